import { expect, test } from 'vitest'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

test('the long fields of Events count towards what may wait for a watcher', async () => {
  const { harness } = await harnessPlace()
  const session = value(await harness.create(REHEARSAL))
  const unread = session.subscribe()
  const after_seq = session.nextSeq - 1
  for (let round = 0; round < 5; round += 1)
    expect(await say(session, 'x'.repeat(1_000_000))).toBe('completed')
  const kinds: unknown[] = []
  for await (const update of unread) kinds.push(update)
  expect(kinds).toEqual([{ kind: 'resync', after_seq }])
  await session.close()
})
