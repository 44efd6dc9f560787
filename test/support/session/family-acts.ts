import type { Result } from '../../../src/model/errors.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import type { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import type { Random } from '../host/random.ts'

// What several processes do at random to the Sessions of one workspace, at the same time.

/** What another process did meanwhile, and what cannot be done to a Session. */
const REFUSALS: ReadonlySet<string> = new Set([
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

const ACTS = {
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
} as const satisfies Readonly<Record<string, Act>>

export type ActName = keyof typeof ACTS

const WEIGHTED: readonly ActName[] = [
  'fork',
  'fork',
  'early',
  'rewind',
  'files',
  'turn',
  'turn',
  'compact',
  'whole',
  'undo',
  'drop',
  'delete',
  'delete',
  'gc',
]

/** What a random act did; `offence`: it was refused for a reason that no other act explains. */
export interface RandomAct {
  readonly name: ActName
  readonly isDone: boolean
  readonly offence?: string
}

/** `isRare`: it is one of few, and not deleted. */
export async function actAtRandom(
  harness: Harness,
  id: SessionId,
  chance: Random,
  isRare = false,
): Promise<RandomAct> {
  const name = chance.pick(isRare ? WEIGHTED.filter((one) => one !== 'delete') : WEIGHTED)
  const result = await ACTS[name](harness, id, chance)
  if (result.ok) return { name, isDone: true }
  const { kind, message } = result.error
  if (REFUSALS.has(kind)) return { name, isDone: false }
  return { name, isDone: false, offence: `${name} of ${id}: ${kind}: ${message}` }
}
