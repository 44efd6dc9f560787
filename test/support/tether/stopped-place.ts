import { cp } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import { ok } from '../../../src/model/errors.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import type { ProviderEvent } from '../../../src/providers/provider.ts'
import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import { DIALECTS } from '../providers/dialects.ts'
import { freshFolder } from '../host/folder.ts'
import { withChanges, type Changes } from '../session/harness-parts.ts'
import { harnessPlace } from '../session/harness-place.ts'
import { value } from '../log/story.ts'

export type StoppedDialect = keyof typeof DIALECTS

/** What the model of a place does with its next request: it answers, or is silent until the process is gone. */
export type Reply = readonly ProviderEvent[] | 'silent'

/** A folder as a process left it that was killed at some moment. */
export interface StoppedPlace {
  readonly root: string
  readonly id: SessionId
  /** The bodies of all requests. */
  readonly requests: readonly string[]
}

/** A place whose model replies with what is in `replies`, and with a text when nothing is left. */
export async function replyingPlace(
  dialect: StoppedDialect,
  replies: readonly Reply[],
  { changes = {}, root }: { readonly changes?: Changes; readonly root?: string } = {},
) {
  const requests: string[] = []
  const waiting = [...replies]
  let fell = () => {}
  const silent = new Promise<void>((resolve) => {
    fell = resolve
  })
  const base = DIALECTS[dialect]
  const provider = {
    ...base,
    stream: async function* (body: Buffer, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
      requests.push(body.toString('utf8'))
      const reply = waiting.shift() ?? textAnswer('Calm.')
      if (reply !== 'silent') {
        yield* reply
        return
      }
      fell()
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
        if (signal.aborted) resolve()
      })
      yield { type: 'error', error: { ...STOPPED, kind: 'interrupted' } }
    },
  }
  const model: Changes = {
    model: {
      providerOf: async () => ok(provider),
      dialectOf: async () => ok(base),
      dialectNameOf: () => dialect,
    },
  }
  const place = await harnessPlace(withChanges(model, changes), root)
  return { ...place, provider, requests, silent }
}

const STOPPED = { message: 'The Turn was interrupted.', details: {}, next_actions: [] } as const

const DONE = {
  type: 'done',
  stop_reason: 'end_turn',
  usage: { input: 100, cached_read: 0, cache_write: 0, output: 5, reasoning: 0 },
} as const satisfies ProviderEvent

export function textAnswer(text: string): readonly ProviderEvent[] {
  return [{ type: 'text_delta', text }, { type: 'item', item: { kind: 'text', text } }, DONE]
}

/** The model continues when it is called again. */
export function pausedAnswer(text: string): readonly ProviderEvent[] {
  return [
    { type: 'item', item: { kind: 'text', text } },
    { ...DONE, isPaused: true },
  ]
}

export function callAnswer(name: string, args: object): readonly ProviderEvent[] {
  const call = { call_id: 'c1', name, arguments: JSON.stringify(args) }
  return [{ type: 'item', item: { kind: 'tool_call', ...call } }, DONE]
}

/** The folder of a process that was killed while its model was silent in the Turn of `options.messageKey`. */
export async function stoppedPlace(
  dialect: StoppedDialect,
  replies: readonly Reply[],
  {
    earlier = [],
    options = {},
    changes = {},
  }: {
    readonly earlier?: readonly string[]
    readonly options?: AdmitOptions
    readonly changes?: Changes
  } = {},
): Promise<StoppedPlace> {
  const { harness, root, requests, silent } = await replyingPlace(dialect, replies, { changes })
  const session = value(await harness.create({ provider: 'rehearsal', model: 'rehearsal' }))
  for (const text of earlier) value(await value(await session.admit(text)).done)
  value(await session.admit('Is the sea calm?', { ...KEYED, ...options }))
  await silent
  const left = await copied(root)
  await session.close()
  return { root: left, id: session.id, requests }
}

export const KEYED = { messageKey: 'm1' } as const

/** As a kill at this moment leaves it. */
export async function copied(root: string): Promise<string> {
  const copy = await freshFolder()
  await cp(root, copy, { recursive: true })
  return copy
}

/** The types of the Events of the Turn with the key, the codes of its notices, and the attempts of its requests. */
export function stepsOf(events: readonly WholeEvent[]): string[] {
  const started = events.find(
    (e) => e.type === 'turn_started' && e.data.source.message_key === KEYED.messageKey,
  )
  return events.flatMap((event) => {
    if (event.turn_id !== started?.turn_id) return []
    if (event.type === 'notice') return [event.data.code]
    if (event.type === 'provider_request')
      return [`request ${event.data.call_index}.${event.data.attempt}`]
    return [event.type]
  })
}

/** Closes the Session at the end of the test. */
export async function reopened(place: Awaited<ReturnType<typeof replyingPlace>>, id: SessionId) {
  const session = value(await place.harness.open(id))
  onTestFinished(() => session.close())
  return session
}
