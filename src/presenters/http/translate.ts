import { undoOutcome } from '../../history/file-changes.ts'
import { shorten } from '../../encoding/quote.ts'
import type { GuardRefusal } from '../../host/net/request-guard.ts'
import { failed, type ErrorKind, type HawserError } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { ForkResult } from '../../session/forks/fork-session.ts'
import type { UncoveredPath } from '../../model/events/file-events.ts'
import type { RewindResult } from '../../session/forks/rewind.ts'
import type { ListedSession } from '../../session/queries/list.ts'
import { failureAnswer, type FailureAnswer } from './exchange/failure-answer.ts'

/** A request that was refused before any route saw it. */
export function guardAnswer(why: GuardRefusal): FailureAnswer {
  const [kind, message] = GUARD_WORDS[why]
  return failureAnswer(failed(kind, message).error)
}

const GUARD_WORDS = {
  host: [
    'permission_denied',
    'The Host header must be 127.0.0.1, localhost or [::1], with the port.',
  ],
  origin: ['permission_denied', 'Requests from pages of other origins are refused.'],
  target: ['invalid_args', 'The request target must be a path.'],
  coding: ['unsupported_type', 'The body must not be compressed: send it without an encoding.'],
} as const satisfies Record<GuardRefusal, readonly [ErrorKind, string]>

/** The token is missing, or it is wrong. */
export function tokenFailure(why: 'missing' | 'wrong'): FailureAnswer {
  const message =
    why === 'missing'
      ? 'This route needs the header Authorization: Bearer TOKEN.'
      : 'The token in the header Authorization is not that of this server.'
  const { error } = failed('permission_denied', message, {}, [
    { action: 'Read the token from the file `token` in the Hawser home of this server.' },
  ])
  return failureAnswer(error, { status: 401, type: 'UNAUTHORIZED' })
}

/** A defect, for the log. */
export function defectText(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.name) : 'not an Error'
  return shorten(text, DEFECT_BYTES)
}

const DEFECT_BYTES = 4096

/** What a fork shares. */
export interface ApiFork {
  readonly sessionId: SessionId
  readonly parentSessionId: SessionId
  /** The number of the last shared Event. */
  readonly atSeq: number
  /** The number that was asked for, if the Session could not be forked there. */
  readonly askedSeq?: number
}

export function apiFork({
  session_id: sessionId,
  parent_session_id: parentSessionId,
  at_seq: atSeq,
  asked_seq,
}: ForkResult): ApiFork {
  return { sessionId, parentSessionId, atSeq, ...definedFields({ askedSeq: asked_seq }) }
}

/** The branch, the message that it lacks, and what became of the files. */
export interface ApiRewind extends ApiFork {
  readonly turn: number
  readonly text: string
  readonly stdin?: string
  readonly resources: RewindResult['resources']
  readonly files: readonly { readonly path: string; readonly outcome: string }[]
  /** Commands of the withdrawn Turns, whose changes are not known. */
  readonly uncoveredCommands: readonly {
    readonly turn: number
    readonly by: string
    readonly command: string
  }[]
  readonly notCovered: readonly UncoveredPath[]
}

export function apiRewind(rewound: RewindResult): ApiRewind {
  const { turn, text, stdin, resources, files, commands, notCovered } = rewound
  return {
    ...apiFork(rewound),
    turn,
    text,
    ...definedFields({ stdin }),
    resources,
    files: files.map((file) => ({ path: file.path, outcome: undoOutcome(file) })),
    uncoveredCommands: commands.map((one) => ({
      turn: one.turn,
      by: one.by,
      command: one.command,
    })),
    notCovered: notCovered?.paths ?? [],
  }
}

/** A Session as the API shows it. */
export interface ApiSession {
  readonly sessionId: SessionId
  readonly projectRoot: string
  readonly title: string
  readonly turns: number
  readonly provider: string
  readonly model: string
  /** The reasoning effort that was set; absent for the default of the model. */
  readonly effort?: string
  readonly mode: string
  readonly permissionMode: string
  readonly parentSessionId?: string
  /** When its last Event was written, UTC. Absent if nothing of it can be read. */
  readonly updatedAt?: string
  /** A process on this machine is writing it. */
  readonly busy: boolean
  readonly turnOpen: boolean
  /** It was created elsewhere, and can only be read. */
  readonly foreign: boolean
  /** Why it cannot be read completely. */
  readonly damage?: HawserError
}

export function apiSession(
  { id, state, foreign, busy, damage }: ListedSession,
  projectRoot: string,
): ApiSession {
  return {
    sessionId: id,
    projectRoot,
    title: state.title,
    turns: state.turns,
    provider: state.provider,
    model: state.model,
    ...definedFields({ effort: state.effort }),
    mode: state.mode,
    permissionMode: state.permission_mode,
    ...(state.parent_session_id === '' ? {} : { parentSessionId: state.parent_session_id }),
    ...(state.last_ts === '' ? {} : { updatedAt: state.last_ts }),
    busy,
    turnOpen: state.turn_open,
    foreign,
    ...definedFields({ damage }),
  }
}

/** The bytes that a `Range` header selects: all, a span, or none of `size` bytes. Several ranges select all. */
export function byteRange(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | 'all' | 'none' {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return 'all'
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return start < end ? { start, end } : 'none'
}

/** `Content-Disposition` for a name from outside: plain ASCII, and the whole name percent-encoded. */
export function disposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replaceAll(/[^\w. -]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
