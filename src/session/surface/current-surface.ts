import { freezeSurface, wordsHash, type FrozenSurface } from '../../prompt/surface.ts'
import { sha256 } from '../../encoding/hash.ts'
import { escapeNotes } from '../../encoding/note-tag.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { skillsIndex } from '../../prompt/words/skills.ts'
import type { EventData, EventDraft } from '../../model/events/event.ts'
import { BlobKey } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { fencesNotes } from '../../providers/provider.ts'
import type { ListedSkill } from '../../skills/skill.ts'
import { surfaceParams } from './surface-params.ts'
import type { ModelChoice, SurfaceParts } from './surface-parts.ts'

/** A surface that may not be stored yet, and the Event that names it. */
export interface SurfaceRecord {
  readonly frozen: FrozenSurface
  readonly draft: EventDraft<'prompt_surface'>
}

/** The surface of this version and of the Skills on disk for one model. Writes nothing. */
export async function currentSurface(
  { model: shared, tools: { schemas, skillSchemas, skills }, log }: SurfaceParts,
  choice: ModelChoice,
  reason: EventData<'prompt_surface'>['reason'],
): Promise<SurfaceRecord> {
  const listed = (await skills.list()).skills
  const params = surfaceParams(shared, choice)
  const dialect = shared.dialectNameOf(choice.provider)
  const isFenced = dialect === undefined || fencesNotes(dialect, params)
  const frozen = freezeSurface({
    model: choice.model,
    tools: listed.length === 0 ? schemas : [...schemas, ...skillSchemas],
    skillsIndex: indexOf(listed, new Redactor(log.secrets), isFenced ? escapeNotes : asIs),
    params,
    contract: shared.contract,
  })
  const { layer0_sha256, layer1_sha256, toolset_sha256, skills_sha256, surface } = frozen
  const data = {
    contract_version: surface.contract_version,
    layer0_sha256,
    layer1_sha256,
    toolset_sha256,
    skills_sha256,
    words_sha256: wordsHash(shared.contract),
    blob: BlobKey.parse(`${sha256(frozen.bytes)}.json`),
    params: surface.params,
    reason,
  }
  return { frozen, draft: { type: 'prompt_surface', data } }
}

/** The text of a Skill that the person did not trust is not shown, and neither is one that only a person activates. */
function indexOf(
  listed: readonly ListedSkill[],
  redactor: Redactor,
  shown: (text: string) => string,
): string {
  const skills = listed
    .filter(({ trust, forModel }) => trust !== 'untrusted' && forModel)
    .map(({ name, description, when_to_use }) => ({
      name,
      description: shown(description),
      when_to_use: when_to_use === undefined ? undefined : shown(when_to_use),
    }))
  const untrusted = listed.flatMap(({ trust, name }) => (trust === 'untrusted' ? [name] : []))
  return skillsIndex(redactor.value({ skills, untrusted }), LIMITS.skills_index_bytes)
}

function asIs(text: string): string {
  return text
}

/** The current surface, unless it is the recorded one. */
export async function newerSurface(
  parts: SurfaceParts,
  choice: ModelChoice,
  recorded: EventData<'prompt_surface'>,
  reason: EventData<'prompt_surface'>['reason'],
): Promise<SurfaceRecord | undefined> {
  const current = await currentSurface(parts, choice, reason)
  const { blob, words_sha256 } = current.draft.data
  return blob === recorded.blob && words_sha256 === recorded.words_sha256 ? undefined : current
}
