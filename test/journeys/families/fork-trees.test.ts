import { expect, test } from 'vitest'
import { random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { oneOfEach, say } from '../../support/resources/sample-files.ts'
import { actAtRandom } from '../../support/session/family-acts.ts'
import {
  laterHarness,
  leftAfterAll,
  unlikeWritten,
  unmentionedBlobs,
} from '../../support/session/family-check.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

// Sessions fork, rewind, compact, undo, drop and are deleted at random by three owners that share files only, while one of them
// runs a Turn. `test/faults/families` does the same in processes that are killed.

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const

test('in random trees of Sessions, every live one opens, verifies and keeps its bytes, and nothing else stays', async () => {
  const done = new Map<string, number>()
  for (const seed of [1, 2, 3]) {
    const chance = random(seed)
    const first = await harnessPlace()
    const places = [first, await harnessPlace({}, first.root), await harnessPlace({}, first.root)]
    const root = value(await first.harness.create(BEGIN))
    const inputs = (await oneOfEach(first.workspace)).map(({ input }) => input)
    expect(await say(root, 'What do you see?', { attachments: inputs })).toBe('completed')
    expect(await say(root, 'Write "one" to f0.txt')).toBe('completed')
    await root.close()
    for (let round = 0; round < 8; round += 1) {
      const ids = (await first.harness.list()).map(({ id }) => id)
      const acts = await Promise.all(
        places.map(({ harness }) => {
          const id = ids.length === 0 ? root.id : chance.pick(ids)
          return actAtRandom(harness, id, chance)
        }),
      )
      for (const { name, isDone, offence } of acts) {
        expect(offence).toBeUndefined()
        if (isDone) done.set(name, (done.get(name) ?? 0) + 1)
      }
      expect(await unlikeWritten(first.harness)).toEqual([])
    }
    value(await laterHarness(first.parts).gc({ dryRun: false }))
    expect(await unmentionedBlobs(first.parts)).toEqual([])
    expect(await unlikeWritten(first.harness)).toEqual([])
    expect(await leftAfterAll(first.parts)).toEqual([])
  }
  for (const name of ['fork', 'rewind', 'turn', 'delete'])
    expect([name, done.get(name) ?? 0]).not.toEqual([name, 0])
})
