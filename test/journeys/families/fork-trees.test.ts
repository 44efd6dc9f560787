import { expect, test } from 'vitest'
import type { Result } from '../../../src/model/errors.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { random, type Random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { oneOfEach, say } from '../../support/resources/sample-files.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { withClock } from '../../support/session/harness-parts.ts'

// Sessions fork, rewind, compact, undo, drop and are deleted at random, in three processes, while one of them runs a Turn.

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
const TWO_HOURS = 2 * 60 * 60_000

/** What another process did meanwhile, and what cannot be done to a Session. */
const REFUSALS = new Set([
  'not_found',
  'session_busy',
  'turn_in_progress',
  'invalid_args',
  'storage_failed',
  'no_match',
])

type Act = (harness: Harness, id: SessionId, chance: Random) => Promise<Result<unknown>>

async function within(
  harness: Harness,
  id: SessionId,
  act: (session: Session) => Promise<Result<unknown>>,
): Promise<Result<unknown>> {
  const session = await harness.open(id)
  if (!session.ok) return session
  try {
    return await act(session.value)
  } finally {
    await session.value.detach()
  }
}

const ACTS: Readonly<Record<string, Act>> = {
  fork: (harness, id) => harness.fork(id),
  early: (harness, id, chance) => harness.fork(id, { turn: 1 + chance.below(3) }),
  rewind: (harness, id, chance) =>
    within(harness, id, (session) =>
      session.rewind({ turn: 1 + chance.below(3), summary: chance.below(2) === 0 }),
    ),
  files: (harness, id, chance) =>
    within(harness, id, (session) =>
      session.rewind({ turn: 1 + chance.below(3), files: true, conflicts: 'leave' }),
    ),
  turn: (harness, id, chance) =>
    within(harness, id, async (session) => {
      const admitted = await session.admit(
        `Write "${chance.below(1000)}" to f${chance.below(4)}.txt`,
      )
      return admitted.ok ? admitted.value.done : admitted
    }),
  compact: (harness, id) => within(harness, id, (session) => session.compact()),
  whole: (harness, id) => within(harness, id, (session) => session.undoCompaction()),
  undo: (harness, id) => within(harness, id, (session) => session.undo()),
  drop: (harness, id, chance) =>
    within(harness, id, (session) =>
      session.dropResource(chance.pick(['@img1', '@pdf2', '@txt3'])),
    ),
  delete: (harness, id) => harness.delete(id),
  gc: (harness) => harness.gc({ dryRun: false }),
}
const WEIGHTED = [
  'fork',
  'fork',
  'early',
  'rewind',
  'files',
  'turn',
  'turn',
  'compact',
  'whole',
].concat(['undo', 'drop', 'delete', 'delete', 'gc'])

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
      const live = await first.harness.list()
      const ids = live.map(({ id }) => id)
      const acts = places.map(({ harness }) => {
        const name = chance.pick(WEIGHTED)
        const act = ACTS[name] ?? expect.fail(name)
        const id = ids.length === 0 ? root.id : chance.pick(ids)
        return act(harness, id, chance).then((result) => {
          if (result.ok) done.set(name, (done.get(name) ?? 0) + 1)
          else
            expect([name, REFUSALS.has(result.error.kind), result.error.message]).toEqual([
              name,
              true,
              result.error.message,
            ])
        })
      })
      await Promise.all(acts)
      await verifyAll(first.harness)
    }
    // All blobs are old now.
    const { clock } = first.parts.log.place
    const later = { ...clock, now: () => clock.now() + TWO_HOURS }
    const old = new Harness(withClock(first.parts, later))
    value(await old.gc({ dryRun: false }))
    await verifyAll(first.harness)
    for (const { id } of await first.harness.list()) value(await first.harness.delete(id))
    value(await old.gc({ dryRun: false }))
    expect(value(await first.parts.log.store.list())).toEqual([])
  }
  for (const name of ['fork', 'rewind', 'turn', 'delete'])
    expect([name, done.get(name) ?? 0]).not.toEqual([name, 0])
})

async function verifyAll(harness: Harness): Promise<void> {
  for (const { id, damage } of await harness.list()) {
    expect([id, damage]).toEqual([id, undefined])
    const proof = await harness.verify(id, { requests: true })
    if (!proof.ok) expect.fail(proof.error.message)
    expect([id, proof.value.log.damage, proof.value.requests?.mismatches]).toEqual([
      id,
      undefined,
      [],
    ])
  }
  expect(value(await harness.badPayloads())).toEqual([])
}
