import { basename, join, relative } from 'node:path'
import type { AttachmentInput } from '../../../model/attachment.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { Harness } from '../../../session/harness.ts'
import { fileSize } from '../../../encoding/amounts.ts'
import { attachmentNamed, enclosedIn } from '../input/attachment-arguments.ts'
import { pathBases } from '../input/path-bases.ts'
import type { NamedModel } from '../../../session/settings/model-choice.ts'
import type { DrawResource } from '../render/pictures.ts'
import type { ListFiles } from '../suggest/file-index.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { CliWorld } from '../world/world.ts'
import type { PendingAttachment } from './pending-attachments.ts'
import type { ChatActions, ChatSkills } from './command-context.ts'

type Sources = Pick<CliWorld, 'cwd' | 'clipboard'>

export interface Judge {
  /** Returns a warning about a model that a person named, or the reason why it is refused. */
  readonly judge: (named: NamedModel) => Result<string | undefined>
}

/** All actions of a chat in a workspace besides those of its Session. */
export function chatActions(
  { trusting, ...sources }: Sources & Judge & Pick<ChatSkills, 'trusting'>,
  harness: Harness,
  draw: DrawResource | undefined,
): ChatActions {
  return {
    sessions: () => harness.list(),
    open: (id) => harness.open(id, { answers: true }),
    setModel: async (session, choice) => {
      const judged = sources.judge(choice)
      if (!judged.ok) return judged
      const set = await session.change({ model: choice })
      return set.ok ? judged : set
    },
    skills: { list: () => harness.skills(), trusting },
    attach: (named) => attached(sources, harness, named),
    enclosed: (text, session, inputs) =>
      enclosedIn(text, session, inputs, pathBases(sources, harness.workspace)),
    listFiles: asTyped(sources, harness),
    ...definedFields({ draw }),
  }
}

/** Lists paths as the person would type them. */
function asTyped(sources: Sources, harness: Harness): ListFiles {
  return ({ onPaths, signal }) => {
    const { workspace } = harness
    const [base] = pathBases(sources, workspace)
    const typed = (path: string) => relative(base, join(workspace, path))
    return harness.listFiles({
      onPaths: (paths) => onPaths(base === workspace ? paths : paths.map(typed)),
      signal,
    })
  }
}

/** Checks the named file by reading it once; it is read again when it is sent. */
async function attached(
  sources: Sources,
  harness: Harness,
  named: string,
): Promise<Result<PendingAttachment>> {
  const input = await attachmentNamed(sources, named)
  if (!input.ok) return input
  const verdicts = await harness.checkAttachments([input.value])
  if (!verdicts.ok) return verdicts
  const [verdict] = verdicts.value
  const name = nameOf(input.value)
  if (verdict === undefined || !verdict.accepted) {
    const { code, reason = 'cannot be attached' } = verdict ?? {}
    return failed('attachments_failed', `${name}: ${reason}.`, { code })
  }
  const { sizeBytes } = verdict
  const size = sizeBytes === undefined ? [] : [fileSize(sizeBytes)]
  return ok({ input: input.value, words: [name, ...size].join(' · ') })
}

function nameOf(input: AttachmentInput): string {
  if (input.from === 'bytes' || input.from === 'blob') return visibleLine(input.name)
  return visibleLine(input.from === 'link' ? input.uri : basename(String(input.path)))
}
