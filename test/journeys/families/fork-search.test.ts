import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { value } from '../../support/log/story.ts'
import { say } from '../../support/resources/sample-files.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

function lastOutput({ events }: Session): string {
  const result = events.findLast(({ type }) => type === 'tool_result')
  return result?.type === 'tool_result' ? result.data.output : expect.fail('no result')
}

test('the model of a fork finds what its parent has up to the fork, and no later Event', async () => {
  const { harness } = await harnessPlace()
  const session = value(await harness.create(REHEARSAL))
  expect(await say(session, 'The heron is grey.')).toBe('completed')
  expect(await say(session, 'The gannet is white.')).toBe('completed')
  const { session_id } = value(await harness.fork(session.id, { turn: 1 }))
  const child = value(await harness.open(session_id))
  expect(await say(child, 'Search the history for "heron is"')).toBe('completed')
  expect(lastOutput(child)).toContain('The heron is grey.')
  expect(await say(child, 'Search the history for "gannet is"')).toBe('completed')
  expect(lastOutput(child)).not.toContain('white')
  await child.close()
  await session.close()
})
