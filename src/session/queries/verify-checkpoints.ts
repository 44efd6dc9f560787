import { carriedBefore } from '../../context/carried-facts.ts'
import { canonicalJson } from '../../encoding/json.ts'
import { stateBefore } from '../../history/resume-state.ts'
import type { WholeEvent } from '../../model/events/event.ts'

/** A recorded checkpoint that differs from what the Events before it give. */
export interface CheckpointMismatch {
  readonly seq: number
  readonly what: 'checkpoint'
  /** The differing fields, such as `state.handle_counter`, and their values. */
  readonly recorded: Readonly<Record<string, unknown>>
  readonly recomposed: Readonly<Record<string, unknown>>
}

/** Computes every checkpoint again from the Events before it. `offsets` are the positions of lines by number. */
export function verifyCheckpoints(
  events: readonly WholeEvent[],
  offsets: ReadonlyMap<number, number>,
): CheckpointMismatch[] {
  return events.flatMap((event, at) => {
    if (event.type !== 'history_compaction' || event.data.range === undefined) return []
    const { tail, state, carried } = event.data
    const before = events.slice(0, at)
    const first = events.find(({ seq }) => seq === tail.from_seq)
    const { seq } = event
    const recorded = fieldsOf({ tail, state, carried })
    const recomposed = fieldsOf({
      tail: { ...tail, from_offset: offsets.get(tail.from_seq), from_prev: first?.prev },
      state: stateBefore(before, tail.from_seq),
      carried: carriedBefore(before, tail.from_seq),
    })
    const names = [...new Set([...recorded.keys(), ...recomposed.keys()])]
    const differing = names.filter((name) => recorded.get(name) !== recomposed.get(name))
    if (differing.length === 0) return []
    const valuesIn = (fields: Fields) =>
      Object.fromEntries(differing.map((name) => [name, fields.get(name)]))
    return [
      { seq, what: 'checkpoint', recorded: valuesIn(recorded), recomposed: valuesIn(recomposed) },
    ]
  })
}

type Fields = ReadonlyMap<string, string>

/** Each field by its name, as JSON. */
function fieldsOf(parts: Readonly<Record<string, object | undefined>>): Fields {
  return new Map(
    Object.entries(parts).flatMap(([part, fields = {}]) =>
      Object.entries(fields).flatMap(([name, value]: [string, unknown]) =>
        value === undefined ? [] : [[`${part}.${name}`, canonicalJson(value)] as const],
      ),
    ),
  )
}
