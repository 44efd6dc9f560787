import { wait } from '../../host/wait.ts'
import type { KeptValues } from '../../host/server/kept-values.ts'
import { failed, ok, type ErrorKind, type Failed, type Result } from '../../model/errors.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import { SessionId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { WaitingMessage } from '../../model/messages/message-draft.ts'
import { attachSession, type AttachedSession } from './attached-session.ts'
import { TurnBody } from './protocol.ts'
import type { WaitingMessages, MessageQueues, ServerParts } from './server-parts.ts'
import { startTurn } from './turn-routes.ts'

export type QueueStore = KeptValues<readonly WaitingMessage[]>

const LOOK_AGAIN_MS = 100

type QueueParts = Pick<ServerParts, 'workspaces' | 'settledQuestions' | 'clock' | 'onDefect'>

export function messageQueues(parts: QueueParts, store: QueueStore): MessageQueues {
  const stop = new AbortController()
  const running = new Set<SessionId>()
  /** The message of each Session that is being admitted: it can no longer be changed. */
  const starting = new Map<SessionId, string>()

  const update = async (
    id: SessionId,
    next: (now: readonly WaitingMessage[]) => Result<readonly WaitingMessage[]>,
  ): Promise<Result<WaitingMessages>> => {
    const kept = await store.update(id, (now) => {
      const changed = next(now?.value ?? [])
      if (!changed.ok) return changed
      return ok(changed.value.length === 0 ? undefined : changed.value)
    })
    if (!kept.ok) return kept
    run(id)
    return ok({ queue: kept.value?.value ?? [] })
  }

  /** Of a message that still waits. */
  const edit = (
    id: SessionId,
    key: string,
    next: (found: WaitingMessage, all: readonly WaitingMessage[]) => readonly WaitingMessage[],
  ) =>
    update(id, (now) => {
      const found = now.find(({ messageKey }) => messageKey === key)
      if (found === undefined) return NOT_WAITING
      return starting.get(id) === key ? IS_STARTING : ok(next(found, now))
    })

  /** One at a time for each Session. Ends when nothing waits, or the first message was refused. */
  const run = (id: SessionId) => {
    if (running.has(id) || stop.signal.aborted) return
    running.add(id)
    void sendAll(id)
      .catch(parts.onDefect)
      .finally(() => running.delete(id))
  }

  const sendAll = async (id: SessionId): Promise<void> => {
    while (!stop.signal.aborted) {
      const first = await firstOf(store, id)
      if (first === undefined || first.refused !== undefined) return
      const attached = await attachSession(parts, id)
      if (!attached.ok) return refuse(id, first.messageKey, attached)
      const sent = await sendNext(id, attached.value)
      if (sent === 'stopped') return
      if (sent === 'again') await wait(parts.clock, LOOK_AGAIN_MS, stop.signal)
    }
  }

  const sendNext = async (
    id: SessionId,
    attached: AttachedSession,
  ): Promise<'sent' | 'again' | 'stopped'> => {
    let done: Promise<unknown> | undefined
    try {
      while (attached.session.busy && !stop.signal.aborted) {
        await wait(parts.clock, LOOK_AGAIN_MS, stop.signal)
      }
      // It may have been changed or removed meanwhile.
      const message = await firstOf(store, id)
      if (stop.signal.aborted || message === undefined || message.refused !== undefined)
        return 'again'
      const { messageKey } = message
      starting.set(id, messageKey)
      const started = await startTurn(attached, bodyOf(id, message))
      if (started.ok) {
        done = started.value.admission.done
        await update(id, (now) => ok(now.filter((one) => one.messageKey !== messageKey)))
      } else if (LATER.has(started.error.kind)) {
        return started.error.kind === 'session_busy' ? 'again' : 'stopped'
      } else {
        await refuse(id, messageKey, started)
        return 'stopped'
      }
    } finally {
      starting.delete(id)
      void attached.leave(done?.catch(() => undefined)).catch(parts.onDefect)
    }
    await Promise.race([done, aborted(stop.signal)])
    return 'sent'
  }

  const refuse = async (id: SessionId, key: string, { error }: Failed): Promise<void> => {
    if (LATER.has(error.kind)) return
    const refused = { kind: error.kind, message: error.message }
    await store.update(id, (now) =>
      ok(now?.value.map((one) => (one.messageKey === key ? { ...one, refused } : one))),
    )
  }

  return {
    list: async (id) => {
      const kept = await store.read(id)
      return kept.ok ? ok({ queue: kept.value?.value ?? [] }) : kept
    },
    add: (id, message) =>
      update(id, (now) => {
        if (now.some(({ messageKey }) => messageKey === message.messageKey)) return ok(now)
        return now.length < LIMITS.session_waiting_turns ? ok([...now, message]) : TOO_MANY
      }),
    change: (id, key, change) =>
      edit(id, key, (found, all) => {
        const { refused, ...kept } = found
        // A key that was refused stays refused.
        const messageKey = refused === undefined ? key : nextKey(key)
        const changed = { ...kept, ...definedFields(change), messageKey }
        return all.map((one) => (one === found ? changed : one))
      }),
    remove: async (id, key) => {
      let message: WaitingMessage | undefined
      const rest = await edit(id, key, (found, all) => {
        message = found
        return all.filter((one) => one !== found)
      })
      if (!rest.ok) return rest
      return message === undefined ? NOT_WAITING : ok({ message })
    },
    order: (id, keys) =>
      update(id, (now) => {
        const sorted = keys.flatMap((key) => now.find(({ messageKey }) => messageKey === key) ?? [])
        const isSame = new Set(sorted).size === now.length && keys.length === now.length
        if (!isSame) return OTHER_KEYS
        const first = starting.get(id)
        return first === undefined || sorted[0]?.messageKey === first ? ok(sorted) : IS_STARTING
      }),
    forget: async (id) => void (await store.update(id, () => ok(undefined))),
    resume: async () => {
      const all = await store.all()
      if (!all.ok) return parts.onDefect(new Error(all.error.message))
      for (const name of all.value.keys()) {
        const id = SessionId.safeParse(name)
        if (id.success) run(id.data)
      }
    },
    close: () => stop.abort(),
  }
}

/** The server is stopping, or another process has the Session: the message waits on. */
const LATER: ReadonlySet<ErrorKind> = new Set(['interrupted', 'overloaded', 'session_busy'])

async function firstOf(store: QueueStore, id: SessionId): Promise<WaitingMessage | undefined> {
  const kept = await store.read(id)
  return kept.ok ? kept.value?.value[0] : undefined
}

/** `k`, then `k~2`, `k~3`. */
function nextKey(key: string): string {
  const [, name = key, count = '1'] = /^(.*)~(\d{1,6})$/s.exec(key) ?? []
  return `${name.slice(0, LONGEST_NAME)}~${Number(count) + 1}`
}

const LONGEST_NAME = 100

function bodyOf(sessionId: SessionId, message: WaitingMessage): TurnBody {
  const { messageKey: idempotencyKey, text, attachments, mentions, skills, choices } = message
  return TurnBody.parse({
    sessionId,
    message: text,
    attachments: attachments.map(({ path }) => path),
    mentions,
    skills: skills.map((name) => ({ name })),
    opts: { ...choices, whenBusy: 'queue' },
    idempotencyKey,
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const NOT_WAITING = failed('not_found', 'This message does not wait any more: it was sent.')
const IS_STARTING = failed('turn_in_progress', 'This message is being sent.')
const OTHER_KEYS = failed(
  'invalid_args',
  'The order must contain the key of every waiting message, once.',
  {},
  [{ action: 'Read the queue again.' }],
)
const TOO_MANY = failed(
  'backpressure',
  `${LIMITS.session_waiting_turns} messages are already waiting in this Session.`,
  { limit: LIMITS.session_waiting_turns },
)
