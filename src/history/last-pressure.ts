import type { EventData, WholeEvent } from '../model/events/event.ts'
import { currentRange } from './current-range.ts'

type Pressure = EventData<'provider_usage'>['pressure']

/** The pressure of the last call since the last compaction in force, as it was recorded. Pure. */
export function lastPressure(events: readonly WholeEvent[]): Pressure | undefined {
  for (const event of currentRange(events))
    if (event.type === 'provider_usage') return event.data.pressure
  return undefined
}
