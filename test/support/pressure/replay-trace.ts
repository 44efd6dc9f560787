import * as fc from 'fast-check'
import * as z from 'zod'

const Count = z.int().nonnegative()
const Positive = z.int().positive()

/** What the cost of a Session's requests depends on: the times and lengths of its messages, calls and answers. */
export const ReplayTrace = z.strictObject({
  what: z.string(),
  turns: z.array(
    z.strictObject({
      /** Seconds since the previous Turn. */
      after_s: Count,
      ask_bytes: Positive,
      attached: z.array(
        z.strictObject({ kind: z.enum(['image', 'pdf', 'text']), bytes: Positive }),
      ),
      /**
       * For each call to the model: the length of the tool result and of anything else that it added to the next request, not
       * counting the tool call; for the last one, the length of its answer.
       */
      calls: z.array(Positive).min(1),
    }),
  ),
})
export type ReplayTrace = z.infer<typeof ReplayTrace>
type TracedTurn = ReplayTrace['turns'][number]
export type Attached = TracedTurn['attached'][number]

/** Upper bounds for a generated trace. */
interface Shape {
  readonly turns: number
  readonly calls: number
  readonly callBytes: number
  /** How many of ten Turns have attachments. */
  readonly attaching: number
  readonly attached: number
  readonly attachedBytes: number
  /** How many of ten Turns follow a pause in which caches expire. */
  readonly pauses: number
}

const ATTACHED_A_TRACE = 20

/** Traces of 1 to 40 Turns, 1 to 60 calls per Turn, and up to 20 attachments of 1 KB to 400 KB. */
export function anyTrace(): fc.Arbitrary<ReplayTrace> {
  const shape = fc.record({
    turns: fc.constantFrom(3, 10, 40),
    calls: fc.constantFrom(1, 3, 10, 60),
    callBytes: fc.constantFrom(60, 500, 4_000, 30_000),
    attaching: fc.constantFrom(1, 5, 10),
    attached: fc.constantFrom(1, 4, 20),
    attachedBytes: fc.constantFrom(2_000, 20_000, 400_000),
    pauses: fc.constantFrom(0, 0, 1, 4),
  })
  return shape.chain(tracesOf)
}

/** Traces that are small enough to compose and hash every byte. */
export function smallTrace(): fc.Arbitrary<ReplayTrace> {
  const bytes = { callBytes: 6_000, attachedBytes: 20_000 }
  return tracesOf({ turns: 6, calls: 8, attaching: 5, attached: 3, pauses: 2, ...bytes })
}

function tracesOf(shape: Shape): fc.Arbitrary<ReplayTrace> {
  const { turns, calls, callBytes, attaching, attached, attachedBytes, pauses } = shape
  const turn = fc.record({
    after_s: fc.integer({ min: 0, max: 9 }).map((one) => (one < pauses ? 400 : 20)),
    ask_bytes: fc.integer({ min: 1, max: 600 }),
    attached: fc.oneof(
      { weight: 10 - attaching, arbitrary: fc.constant<Attached[]>([]) },
      { weight: attaching, arbitrary: listOf(anyAttached(attachedBytes), attached) },
    ),
    calls: listOf(fc.integer({ min: 1, max: callBytes }), calls),
  })
  return listOf(turn, turns).map((all) => ({ what: 'made', turns: withFewAttached(all) }))
}

function anyAttached(most: number): fc.Arbitrary<Attached> {
  const kind = fc.constantFrom('image', 'pdf', 'text')
  return fc.record({ kind, bytes: fc.integer({ min: 1_000, max: most }) })
}

/** Lists in which every length is equally likely. */
function listOf<T>(one: fc.Arbitrary<T>, most: number): fc.Arbitrary<T[]> {
  return fc
    .integer({ min: 1, max: most })
    .chain((count) => fc.array(one, { minLength: count, maxLength: count }))
}

/** Keeps only the first attachments of a trace. */
function withFewAttached(turns: readonly TracedTurn[]): TracedTurn[] {
  let left = ATTACHED_A_TRACE
  return turns.map((turn) => {
    const attached = turn.attached.slice(0, left)
    left -= attached.length
    return { ...turn, attached }
  })
}

/** The same traces in every run. */
export function generatedTraces(count: number): ReplayTrace[] {
  return fc.sample(anyTrace(), { seed: 1, numRuns: count })
}
