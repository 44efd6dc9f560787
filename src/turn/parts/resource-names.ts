import { SessionResources } from '../../history/session-resources.ts'
import {
  Descriptor,
  HANDLE_PREFIXES,
  RESOURCE_SOURCES,
  type ResourceFacts,
} from '../../model/descriptor.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { Ids } from '../../host/ids.ts'

type Source = (typeof RESOURCE_SOURCES)[number]

/** Assigns handles to Resources, under the lock of a Log, so that no handle is used twice. */
export class ResourceNames {
  readonly #ids: Ids
  readonly #events: () => readonly WholeEvent[]
  #last: number | undefined

  constructor(ids: Ids, events: () => readonly WholeEvent[]) {
    this.#ids = ids
    this.#events = events
  }

  name(facts: ResourceFacts, source: Source): Result<Descriptor> {
    // Counted in memory, because two concurrent calls must not get the same number.
    this.#last = (this.#last ?? new SessionResources(this.#events()).last) + 1
    if (this.#last > LAST_NUMBER) return noMoreHandles()
    const { kind } = facts
    const descriptor = Descriptor.parse({
      resource_id: this.#ids.resource(),
      handle: `@${HANDLE_PREFIXES[kind]}${this.#last}`,
      ...facts,
      source,
      rehydratable: kind !== 'link' && kind !== 'file',
    })
    return ok(descriptor)
  }
}

/** A handle has at most nine digits. No Session reaches that, but a Log from elsewhere may contain any number. */
const LAST_NUMBER = 999_999_999

function noMoreHandles(): Failed {
  return failed('too_large', 'This Session has no handles left.', { limit: LAST_NUMBER }, [
    { action: 'Start a new Session.' },
  ])
}

/** The source of a Resource, by the name of its presenter. */
export function sourceOf(presenter: string): Source {
  return RESOURCE_SOURCES.find((source) => source === presenter) ?? 'cli'
}
