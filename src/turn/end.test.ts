import { expect, test } from 'vitest'
import { failed, ok } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import { endTurn, type Ending } from './end.ts'
import { NO_USAGE } from './usage.ts'

const usage = { ...NO_USAGE, input: 7, calls: 1 }
const cut = { reason: 'output_limit', stop_reason: 'max_tokens', lost_calls: 0 } as const
const { error } = failed('network', 'The line is dead.', { path: '/home/me/a.png' })

async function ended(ending: Ending, before: readonly EventDraft[] = []) {
  const writes: (readonly EventDraft[])[] = []
  await endTurn({ commit: async (drafts) => ok(void writes.push(drafts)) }, ending, before)
  return writes
}

test.each<[string, Ending, object]>([
  [
    'the model completed its answer',
    { how: 'loop', usage, cut },
    { status: 'completed', usage_total: usage, cut },
  ],
  [
    'it was interrupted, with no error and no cut',
    { how: 'loop', error: failed('interrupted', 'Stop.').error, usage, cut },
    { status: 'interrupted', usage_total: usage },
  ],
  [
    'it failed before its first call',
    { how: 'loop', error },
    { status: 'failed', error, usage_total: NO_USAGE },
  ],
  [
    'it was refused, without the details of the client',
    { how: 'refused', error },
    {
      status: 'refused',
      error: { kind: 'network', message: 'The line is dead.' },
      usage_total: NO_USAGE,
    },
  ],
  [
    'its writer crashed',
    { how: 'crashed', usage },
    { status: 'interrupted', usage_total: usage, crash_recovered: true },
  ],
])('a Turn ends with one Event: %s', async (_title, ending, data) => {
  expect(await ended(ending)).toEqual([[{ type: 'turn_ended', data }]])
})

test('Events before the end are in the same write', async () => {
  const notice: EventDraft = { type: 'notice', data: { code: 'test', text: 'first' } }
  const [write] = await ended({ how: 'crashed', usage }, [notice])
  expect(write?.map(({ type }) => type)).toEqual(['notice', 'turn_ended'])
})
