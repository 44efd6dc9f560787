import { BRANCH_EVENTS, branchFacts } from '../../context/branch-facts.ts'
import { MESSAGE_EVENTS, OwnMessages, type OwnMessage } from '../../history/rewind/own-messages.ts'
import type { NotCovered, RanCommand } from '../../history/ran-commands.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { EventData, EventEnvelope, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { SessionId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import { branchSummary } from '../../prompt/words/branches.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { Registration } from '../live/registration.ts'
import type { SessionParts } from '../live/session-parts.ts'
import {
  changedSince,
  filesBefore,
  restoreBefore,
  type ConflictChoice,
  type FilesBefore,
} from '../changes/restore-before.ts'
import { readLog } from '../reading/read-log.ts'
import { forkSession, notACount, numbersOf, type ForkResult } from './fork-session.ts'

export interface RewindOptions {
  /** The Turn whose message is withdrawn, counted from 1. */
  readonly turn: number
  /** Also restore the files that this Turn and later ones changed, by tools and by commands. Default: leave all files. */
  readonly files?: boolean
  /** What happens to files that something else changed since. Default: nothing is done at all, and they are named. */
  readonly conflicts?: ConflictChoice
  /** Also pin a summary of what is left behind, from recorded facts, in the new branch. Default: none. */
  readonly summary?: boolean
}

/** The new branch, and what it does not have any more. */
export interface RewindResult
  extends ForkResult, Pick<OwnMessage, 'turn' | 'text' | 'stdin' | 'resources'> {
  readonly files: EventData<'files_restored'>['files']
  /** Commands of the withdrawn Turns whose changes are not known, and stay. Only with `files`. */
  readonly commands: readonly RanCommand[]
  /** Paths that the snapshots around the others do not cover. Only with `files`. */
  readonly notCovered?: NotCovered
}

type RewindParts = Pick<SessionParts, 'log' | 'tools'> & Pick<Registration, 'open'>

/**
 * Forks a Session before the message of a Turn, and returns the message. The Session stays as it is, and so do the files, unless
 * `files` asks for them; then no Turn may run in it.
 */
export async function rewindSession(
  parts: RewindParts,
  session: LiveSession,
  options: RewindOptions,
): Promise<Result<RewindResult>> {
  const message = await messageOf(parts.log, session.id, options.turn)
  if (!message.ok) return message
  const { turn, turn_id, seq, text, stdin, resources } = message.value
  const withdrawn = { turn, text, ...(stdin === undefined ? {} : { stdin }), resources }
  const fork = async () => {
    const forked = await forkSession(parts.log, session.id, { seq: seq - 1 })
    if (!forked.ok || options.summary !== true) return forked
    const pinned = await pinSummary(parts, session.id, message.value, forked.value)
    return pinned.ok ? forked : ofBranch(pinned, forked.value.session_id)
  }
  if (options.files !== true) {
    const forked = await fork()
    return forked.ok ? ok({ ...forked.value, ...withdrawn, files: [], commands: [] }) : forked
  }
  return session.between(async (locked) => {
    const found = await filesBefore(parts, session, locked, turn_id)
    if (!found.ok) return found
    const { conflicts = 'refuse' } = options
    const refused = conflicts === 'refuse' ? changedSince(found.value) : undefined
    if (refused !== undefined) return refused
    const forked = await fork()
    if (!forked.ok) return forked
    const restored = await restoreIn(parts, session, message.value, {
      branch: forked.value.session_id,
      plan: found.value,
      conflicts,
    })
    if (!restored.ok) return ofBranch(restored, forked.value.session_id)
    const { commands, notCovered } = found.value
    return ok({ ...forked.value, ...withdrawn, files: restored.value, commands, notCovered })
  })
}

/** From the Events that the branch does not have. */
async function pinSummary(
  parts: RewindParts,
  session: SessionId,
  { turn }: OwnMessage,
  { session_id, at_seq }: ForkResult,
): Promise<Result<void>> {
  const events: WholeEvent[] = []
  const options = { types: BRANCH_EVENTS, wanted: ({ seq }: EventEnvelope) => seq > at_seq }
  const read = await readLog(parts.log, session, options, ({ event }) => {
    if (event !== undefined && event.seq > at_seq) events.push(event)
  })
  if (!read.ok) return read
  const opened = await parts.open(session_id)
  if (!opened.ok) return opened
  try {
    const pinned = (await opened.value.pinnedTexts()).map(utf8Bytes)
    const rest = LIMITS.pinned_text_bytes - pinned.reduce((sum, bytes) => sum + bytes, 0)
    return await opened.value.pin(branchSummary(branchFacts(events, turn), rest))
  } finally {
    await opened.value.close()
  }
}

/** The message that began a Turn. */
async function messageOf(
  log: SessionParts['log'],
  session: SessionId,
  turn: number,
): Promise<Result<OwnMessage>> {
  if (!Number.isSafeInteger(turn) || turn < 1) return notACount(session, 'turn', turn)
  const messages = new OwnMessages()
  let found: OwnMessage | undefined
  const read = await readLog(log, session, { types: MESSAGE_EVENTS }, ({ event }) => {
    const message = event && messages.take(event)
    if (message?.turn === turn) found = message
    return found !== undefined || messages.turns > turn ? false : undefined
  })
  if (!read.ok) return read
  if (found !== undefined) return ok(found)
  const { turns } = messages
  const exists = turn <= turns
  if (!exists && read.value.damage !== undefined) return { ok: false, error: read.value.damage }
  const why = exists
    ? `Turn ${turn} does not begin with a message of yours.`
    : `There is no Turn ${turn} in this Session.`
  return failed('not_found', why, exists ? { turn } : { turns }, [numbersOf(session)])
}

interface Restoring {
  readonly branch: SessionId
  readonly plan: FilesBefore
  readonly conflicts: ConflictChoice
}

/** The intention and the outcome are in the Log of the new branch, whose model must know. */
async function restoreIn(
  parts: RewindParts,
  session: LiveSession,
  { turn, turn_id }: OwnMessage,
  { branch, plan, conflicts }: Restoring,
): Promise<Result<RewindResult['files']>> {
  if (plan.changes.length === 0) return ok([])
  const opened = await parts.open(branch)
  if (!opened.ok) return opened
  try {
    return await opened.value.between(async ({ record }) => {
      const text = `Restoring files to before Turn ${turn} of ${session.id}: ${plan.names}.`
      // The intention is durable before the first file changes.
      const intended = await record([notice('undo_began', text)])
      if (!intended.ok) return intended
      const done = await restoreBefore(parts, session, plan, conflicts)
      if (!done.ok) return done
      const data: EventData<'files_restored'> = {
        undone_turn_id: turn_id,
        rewound_from: session.id,
        ...done.value,
        by: 'person',
      }
      const recorded = await record([{ type: 'files_restored', data }])
      return recorded.ok ? ok(done.value.files) : recorded
    })
  } finally {
    await opened.value.close()
  }
}

/** The branch exists, although not everything that was asked for is done. */
function ofBranch({ error }: Failed, session_id: SessionId): Failed {
  const { kind, message, details, next_actions } = error
  return failed(
    kind,
    `${message} The new Session ${session_id} exists; its files may not be restored.`,
    { ...details, session_id },
    [
      ...next_actions,
      { action: 'Continue in it.', command: `hawser chat --session ${session_id}` },
    ],
  )
}
