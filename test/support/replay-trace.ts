import * as fc from 'fast-check'
import * as z from 'zod'

const Count = z.int().nonnegative()
const Some = z.int().positive()

/** A Session as far as the cost of its requests goes: when things were said, and how long they were. */
export const ReplayTrace = z.strictObject({
  what: z.string(),
  turns: z.array(
    z.strictObject({
      /** Seconds since the Turn before it. */
      after_s: Count,
      ask_bytes: Some,
      attached: z.array(z.strictObject({ kind: z.enum(['image', 'pdf', 'text']), bytes: Some })),
      /**
       * For each call to the model: the length of the result of the tool it called, and of whatever else it added to the next
       * request beyond the call of a tool; of the last one, the length of its answer.
       */
      calls: z.array(Some).min(1),
    }),
  ),
})
export type ReplayTrace = z.infer<typeof ReplayTrace>
type TracedTurn = ReplayTrace['turns'][number]
export type Attached = TracedTurn['attached'][number]

/** How large a trace may become. */
interface Shape {
  readonly turns: number
  readonly calls: number
  readonly callBytes: number
  /** Of ten Turns, so many bring something. */
  readonly attaching: number
  readonly attached: number
  readonly attachedBytes: number
  /** Of ten Turns, so many come after a pause in which caches forget. */
  readonly pauses: number
}

const ATTACHED_A_TRACE = 20

/** Traces of 1 to 40 Turns, 1 to 60 calls a Turn, and up to 20 attachments of 1 KB to 400 KB. */
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

/** Small enough for every byte of them to be composed and hashed. */
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

/** Long ones as likely as short ones. */
function listOf<T>(one: fc.Arbitrary<T>, most: number): fc.Arbitrary<T[]> {
  return fc
    .integer({ min: 1, max: most })
    .chain((count) => fc.array(one, { minLength: count, maxLength: count }))
}

/** The first ones count. */
function withFewAttached(turns: readonly TracedTurn[]): TracedTurn[] {
  let left = ATTACHED_A_TRACE
  return turns.map((turn) => {
    const attached = turn.attached.slice(0, left)
    left -= attached.length
    return { ...turn, attached }
  })
}

/** Always the same ones. */
export function madeTraces(count: number): ReplayTrace[] {
  return fc.sample(anyTrace(), { seed: 1, numRuns: count })
}
