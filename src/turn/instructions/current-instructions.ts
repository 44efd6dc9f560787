import { instructionsSoFar, type InstructionsSoFar } from '../../history/instructions.ts'
import type { InstructionFile } from '../../host/instructions/instruction-files.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, EventDraft, WholeEvent } from '../../model/events/event.ts'
import { OWN_INSTRUCTIONS, type NamedInstructions } from '../../model/events/instruction-events.ts'
import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { InstructionParts, TextKeeper } from '../parts/instruction-parts.ts'

/** The project instructions that apply now. */
export interface CurrentInstructions {
  /** For late context. */
  readonly facts: Pick<EventData<'late_context'>, 'instructions' | 'more_instructions'>
  /** The texts that the model has not received, and what the person reads; after that late context. */
  readonly drafts: readonly EventDraft<'project_instructions' | 'notice'>[]
}

const NONE: CurrentInstructions = { facts: {}, drafts: [] }

/**
 * Finds the project instructions that apply: those of `paths`, relative to the workspace, and those that were named before.
 * Texts are stored, but nothing is recorded. Without `keeper`, no text is included.
 */
export async function currentInstructions(
  parts: InstructionParts | undefined,
  events: readonly WholeEvent[],
  paths: readonly string[],
  keeper: TextKeeper | undefined,
): Promise<Result<CurrentInstructions>> {
  if (parts === undefined) return ok(NONE)
  const before = instructionsSoFar(events)
  const named = before.late?.instructions ?? []
  const current = parts.files.foldersTo(paths)
  const found = await parts.files.find([...current, ...named.flatMap(folderOf)])
  const { listed, more } = fitting(found, new Set(current), before)
  if (listed.length === 0) return ok(named.length === 0 ? NONE : { facts: EMPTY, drafts: [] })
  const entries = listed.map((file) => entryOf(file, named))
  const over = more ? { more_instructions: more } : {}
  if (parts.setting === 'name' || keeper === undefined)
    return ok({ facts: { instructions: entries, ...over }, drafts: [] })
  // Most people do not load texts.
  const { loadTexts } = await import('./load-texts.ts')
  const loaded = await loadTexts(parts, entries, before, keeper)
  if (!loaded.ok) return loaded
  const { instructions, drafts } = loaded.value
  return ok({ facts: { instructions, ...over }, drafts })
}

/** Says that those of an earlier list no longer apply. */
const EMPTY = { instructions: [] }

function folderOf({ path }: NamedInstructions): string[] {
  return path === OWN_INSTRUCTIONS ? [] : [path.split('/').slice(0, -1).join('/')]
}

/** At most so many files, and bytes of their paths, that a checkpoint can carry them; those on the current way first. */
function fitting(
  found: readonly InstructionFile[],
  current: ReadonlySet<string>,
  { late }: InstructionsSoFar,
) {
  const isCurrent = ({ path }: InstructionFile) =>
    path === OWN_INSTRUCTIONS || folderOf({ path }).some((folder) => current.has(folder))
  const ranked = [...found.filter(isCurrent), ...found.filter((file) => !isCurrent(file))]
  let room: number = LIMITS.instructions_path_bytes
  const kept = new Set(
    ranked.filter(({ path }) => (room -= utf8Bytes(path)) >= 0).slice(0, LIMITS.instructions_files),
  )
  const isFull = kept.size === LIMITS.instructions_files
  const more = kept.size < found.length || (isFull && late?.more_instructions === true)
  return { listed: found.filter((file) => kept.has(file)), more }
}

function entryOf(
  { path, bytes, sha256, refusal: refused }: InstructionFile,
  named: readonly NamedInstructions[],
): NamedInstructions {
  const last = named.find((one) => one.path === path)
  const isChanged =
    last !== undefined &&
    (last.content_sha256 !== sha256 || last.bytes !== bytes || last.refused !== refused)
  return {
    path,
    ...definedFields({ bytes, content_sha256: sha256, refused }),
    ...(isChanged ? { changed: true } : {}),
  }
}
