import { composeWorkspace } from './compose/workspace.ts'
import { homePath } from './host/machine.ts'
import { processEnv } from './host/machine.ts'
import { ok, type Result } from './model/errors.ts'
import { LibraryWorkspace } from './session/workspace/library-workspace.ts'

export type { AttachmentError, AttachmentInput } from './model/attachment.ts'
export type { BlobPart, Part, TextPart } from './model/conversation.ts'
export type { Descriptor } from './model/descriptor.ts'
export { ERROR_KINDS } from './model/errors.ts'
export type { ErrorKind, HawserError, NextAction, Result } from './model/errors.ts'
export type {
  EphemeralEvent,
  EphemeralType,
  EventEnvelope,
  EventType,
  WholeEvent as SessionEvent,
} from './model/events/event.ts'
export { BLOB_EXTENSIONS } from './model/ids.ts'
export type { BlobMediaType, SessionId, TurnId } from './model/ids.ts'
export type { ModelRow } from './model/model-facts.ts'
export type { PermissionMode, SessionMode } from './model/modes.ts'
export type { TurnResult } from './history/results/turn-result.ts'
export type { Proof } from './session/queries/verify.ts'
export type {
  CreateOptions,
  LibrarySession as Session,
  LibraryWorkspace as Workspace,
} from './session/workspace/library-workspace.ts'
export type {
  AdmitOptions,
  AdmittedTurn as StartedTurn,
} from './session/admission/admit-options.ts'
export { resolveAttachmentsToContentBlocks, type ResolveOptions } from './compose/content-blocks.ts'
export type { ContentBlocks } from './session/admission/attachments.ts'
export type { ForkAt, ForkResult } from './session/forks/fork-session.ts'
export type { RewindOptions, RewindResult } from './session/forks/rewind.ts'
export type { UndoneCompaction } from './session/live/compaction.ts'
export type { CompactionOutcome, CompactOptions } from './session/live/locked-compaction.ts'
export type { ClientOptions } from './session/admission/attach-options.ts'
export type { SettingsChange } from './session/admission/settings-change.ts'
export type { SessionState } from './session/live/state.ts'
export type { ListedSession } from './session/queries/list.ts'
export type { ListedResource } from './session/queries/resources.ts'
export type { ChosenAnswer, Question } from './session/questions/session-questions.ts'
export type { SessionUpdate, StreamOptions } from './session/watch/session-stream.ts'

/** Set by the build from package.json. */
declare const HAWSER_VERSION: string | undefined

export interface WorkspaceOptions {
  /** The folder with the person's settings, keys and trust. Default: `$HAWSER_HOME`, or `~/.hawser`. */
  readonly home?: string
  /** Where keys and base URLs of providers are read from. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Your program, as Sessions and Turns record it. Default: `library`. */
  readonly presenter?: string
  /** How long a permission question waits for a client that can answer to come back. Default: the person's setting. */
  readonly questionMs?: number
}

/** Opens the folder `path` as a workspace. Creates `.hawser` in it if it is missing. Close it when you are done. */
export async function openWorkspace(
  path: string,
  options: WorkspaceOptions = {},
): Promise<Result<LibraryWorkspace>> {
  const { env = processEnv(), home = homePath(env), presenter = 'library', questionMs } = options
  const opened = await composeWorkspace(path, home, {
    presenter,
    env,
    version: typeof HAWSER_VERSION === 'undefined' ? '0.0.0-source' : HAWSER_VERSION,
    make: true,
    ...(questionMs === undefined ? {} : { questionMs }),
  })
  return opened.ok ? ok(new LibraryWorkspace(opened.value, env)) : opened
}
