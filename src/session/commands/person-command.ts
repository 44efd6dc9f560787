import type { FolderIdentity } from '../../model/folder-identity.ts'
import type { BlobStore } from '../../blobs/store.ts'
import { Redactor } from '../../encoding/redaction.ts'
import type { Clock } from '../../host/clock.ts'
import type { Ids } from '../../host/ids.ts'
import type { Sandbox } from '../../host/sandbox/sandbox.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'
import { runPersonCommand, type PersonCommandParts } from '../../turn/person-command.ts'
import { inspectSince, keepRedacted } from './protected-files.ts'

/** The parts of a Session that a command uses. */
interface CommandParts {
  readonly workspace: {
    readonly path: string
    readonly identity?: FolderIdentity | undefined
    readonly folder?: string | undefined
    readonly home: string
  }
  readonly log: {
    readonly place: { readonly clock: Clock; readonly ids: Pick<Ids, 'event'> }
    readonly store: BlobStore
    readonly secrets: readonly string[]
  }
  readonly tools: {
    readonly sandbox: Sandbox
    readonly protectedPaths: readonly string[]
    readonly readable?: readonly string[] | undefined
    /** In a guest; see `Confinement.ofGuest`. */
    readonly ofGuest?: boolean
    readonly limits: { readonly command_ms: number }
  }
}

/** What the holder of the lock can do for a command. */
interface LockedLog extends Pick<PersonCommandParts['log'], 'record'> {
  readonly publish: TurnParts['log']['publish']
  /** Aborts when the person interrupts the command. */
  readonly signal: AbortSignal
}

/** Runs a command of the person in the sandbox of the model's commands; see `runPersonCommand`. */
export async function personCommand(
  shared: CommandParts,
  session: { readonly events: readonly WholeEvent[] },
  { record, publish, signal }: LockedLog,
  typed: string,
): Promise<Result<EventData<'shell_result'>>> {
  const { workspace, log, tools } = shared
  const redactor = new Redactor(log.secrets)
  const command_id = `cmd_${log.place.ids.event().slice('evt_'.length)}`
  const { sandbox, protectedPaths, readable = [], ofGuest = false } = tools
  const { path, identity, home } = workspace
  const place = { workspace: path, identity, home, protectedPaths, readable, ofGuest }
  const parts = {
    log: { events: () => session.events, record, clock: log.place.clock },
    command_id,
    since: inspectSince(shared),
  }
  return runPersonCommand(
    {
      ...parts,
      contextWith: (watching) => ({
        signal,
        folder: workspace.folder === '' ? undefined : workspace.folder,
        // Never without a sandbox: no question is asked.
        run: sandbox.runConfined({
          ...place,
          writable: 'workspace',
          keep: keepRedacted(log),
          watching,
        }),
        redactor,
        keep: (bytes, type) => log.store.put(redactor.chunks(bytes), type),
        progress: (text, options = { notice: false }) =>
          publish({
            type: 'tool_progress',
            data: { call_id: command_id, text, ...(options.notice ? { notice: true } : {}) },
          }),
        limits: { output_bytes: LIMITS.tool_output_bytes, command_ms: tools.limits.command_ms },
      }),
    },
    redactor.text(typed),
  )
}
