import { basename, join, relative } from 'node:path'
import type { AttachmentInput } from '../../../model/attachment.ts'
import { currentBranch } from '../../../host/git-branch.ts'
import { userHome } from '../../../host/machine.ts'
import { foldersUpwards } from '../../../host/workspace-search.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import type { ModelRow } from '../../../model/model-facts.ts'
import { listFolder } from '../../../host/typed-input/list-folder.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { Harness } from '../../../session/harness.ts'
import type { Session } from '../../../session/session.ts'
import { fileSize } from '../../../encoding/amounts.ts'
import { attachmentNamed, enclosedIn } from '../input/attachment-arguments.ts'
import { pathFrom, wholePath } from '../input/whole-path.ts'
import { pathBases } from '../input/path-bases.ts'
import type { NamedModel } from '../../../session/settings/model-choice.ts'
import type { DrawResource } from '../render/pictures.ts'
import { sessionEnds } from '../pick/session-pick.ts'
import type { ListFiles } from '../suggest/file-index.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { CliWorld } from '../world/world.ts'
import type { PendingAttachment } from './commands/pending-attachments.ts'
import type {
  ChatActions,
  ChatSkills,
  FinishedExport,
  ExportName,
} from './commands/command-context.ts'

type Verdict = Extract<
  Awaited<ReturnType<Harness['checkAttachments']>>,
  { ok: true }
>['value'][number]

type Sources = Pick<CliWorld, 'cwd' | 'clipboard' | 'version'>

export interface Judge {
  /** The models to choose from. */
  readonly models?: (() => readonly ModelRow[]) | undefined
  /** What the person appended for every Session of this chat. */
  readonly appendInstructions?: readonly string[] | undefined
  readonly copy?: ChatActions['copy'] | undefined
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
    fork: async (session) => {
      const forked = await session.fork()
      return forked.ok ? harness.open(forked.value.session_id, { answers: true }) : forked
    },
    setModel: async (session, choice) => {
      const judged = sources.judge(choice)
      if (!judged.ok) return judged
      const set = await session.change({ model: choice })
      return set.ok ? judged : set
    },
    judgeModel: sources.judge,
    ...definedFields({ models: sources.models }),
    sessionEnd: sessionEnds(harness),
    listFolder: (folder) => listFolder(pathFrom(sources.cwd(), folder)),
    describeImage: (path) => describeImage(sources, harness, path),
    skills: { list: () => harness.skills(), trusting },
    attach: (named) => checkAttachment(sources, harness, named),
    resolveWords: (text, session, inputs) =>
      enclosedIn(text, session, inputs, pathBases(sources, harness.workspace)),
    listFiles: asTyped(sources, harness),
    branch: () => currentBranch(foldersUpwards(harness.workspace, userHome())),
    read: (id, options, visit) => harness.read(id, options, visit),
    begin: (like) => sessionLike(harness, like, sources.appendInstructions),
    export: (id, format, path) => writeSession(sources, harness, { id, format, path }),
    ownInstructions: () => ownInstructions(harness),
    ...definedFields({ draw, copy: sources.copy }),
  }
}

/** With the settings of another Session, and with the instructions that the person appended for this chat. */
async function sessionLike(
  harness: Harness,
  { state }: Session,
  appendInstructions: readonly string[] = [],
): Promise<Result<Session>> {
  const { provider, model, mode, permission_mode: permissionMode, effort } = state
  const settings = { provider, model, mode, permissionMode, appendInstructions }
  return harness.create({ ...settings, ...definedFields({ effort }) }, { answers: true })
}

async function writeSession(
  { cwd, version }: Sources,
  harness: Harness,
  order: { readonly id: SessionId; readonly format: ExportName; readonly path: string },
): Promise<Result<FinishedExport>> {
  const path = wholePath({ cwd }, order.path)
  if (!path.ok) return path
  const session = await harness.find(order.id)
  if (!session.ok) return session
  const { FORMATS, writeExport } = await import('../export/write-export.ts')
  const format = FORMATS[order.format]()
  const written = await writeExport(
    { harness, session: session.value, format, version },
    path.value,
  )
  if (!written.ok) return written
  const { end, events, bytes } = written.value
  return ok({ path: path.value, events, bytes, damage: end.damage })
}

async function ownInstructions({ workspace }: Harness): Promise<string | undefined> {
  const names = await listFolder(workspace)
  return ['AGENTS.md', 'CLAUDE.md'].find((name) => names.includes(name))
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
async function checkAttachment(
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
  return ok({ input: input.value, words: [name, ...verdictWords(verdict)].join(' · ') })
}

/** A description of an image as text, such as `PNG image · 640×480 · 12.3 KiB`, or why it cannot be sent. */
async function describeImage(sources: Sources, harness: Harness, path: string): Promise<string> {
  const [base] = pathBases(sources, harness.workspace)
  const input = { from: 'path', path: pathFrom(base, path), given: path } as const
  const verdicts = await harness.checkAttachments([input])
  const [verdict] = verdicts.ok ? verdicts.value : []
  if (verdict === undefined || !verdict.accepted) return verdict?.reason ?? ''
  const type = (verdict.mediaType ?? '').replace(/^image\//, '').toUpperCase()
  return [`${type} image`, ...verdictWords(verdict)].join(' · ')
}

/** The size of a file, and the pixels of an image. */
function verdictWords({ sizeBytes, pixels }: Verdict): string[] {
  return [
    ...(pixels === undefined ? [] : [`${pixels.width}×${pixels.height}`]),
    ...(sizeBytes === undefined ? [] : [fileSize(sizeBytes)]),
  ]
}

function nameOf(input: AttachmentInput): string {
  if (input.from === 'bytes' || input.from === 'blob') return visibleLine(input.name)
  return visibleLine(input.from === 'link' ? input.uri : basename(String(input.path)))
}
