import type { Descriptor } from '../model/descriptor.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { ResourceId, TurnId } from '../model/ids.ts'

/** A Resource as recorded in a Log. */
export interface SessionResource {
  readonly descriptor: Descriptor
  /** The Event that added it. */
  readonly seq: number
  readonly turn: TurnId | undefined
  /** Who added it: a person with a message, or the agent with its answer. */
  readonly by: 'person' | 'agent'
  /** Why its bytes are never shown again; absent while they may be. */
  readonly gone?: 'dropped' | 'quarantined'
}

/** All Resources of a Session, in the order in which they were added. Grows with its Log. */
export class SessionResources {
  readonly #byId = new Map<ResourceId, SessionResource>()
  readonly #byHandle = new Map<string, ResourceId>()
  #last = 0

  constructor(events: readonly WholeEvent[] = []) {
    for (const event of events) this.add(event)
  }

  get all(): readonly SessionResource[] {
    return [...this.#byId.values()]
  }

  /** The number of the last handle. All kinds share one counter, and no number is used twice. */
  get last(): number {
    return this.#last
  }

  byHandle(handle: string): SessionResource | undefined {
    const id = this.#byHandle.get(handle)
    return id === undefined ? undefined : this.#byId.get(id)
  }

  byId(id: ResourceId): SessionResource | undefined {
    return this.#byId.get(id)
  }

  add(event: WholeEvent): void {
    if (event.type === 'user_message') {
      for (const descriptor of event.data.resources ?? []) this.#bring(descriptor, event, 'person')
    } else if (event.type === 'resource_ingested') {
      this.#bring(event.data.descriptor, event, 'agent')
    } else if (event.type === 'history_compaction') {
      const { resources, handle_counter } = event.data.state
      for (const descriptor of resources)
        if (!this.#byId.has(descriptor.resource_id)) this.#bring(descriptor, event, 'person')
      this.#last = Math.max(this.#last, handle_counter)
    } else if (event.type === 'resource_dropped') {
      this.#end(event.data.resource_id, 'dropped')
    } else if (event.type === 'resource_quarantined') {
      this.#end(event.data.resource_id, 'quarantined')
    }
  }

  #bring(descriptor: Descriptor, { seq, turn_id: turn }: WholeEvent, by: SessionResource['by']) {
    const { resource_id, handle } = descriptor
    this.#byId.set(resource_id, { descriptor, seq, turn, by })
    this.#byHandle.set(handle, resource_id)
    this.#last = Math.max(this.#last, Number(/\d+$/.exec(handle)?.[0] ?? 0))
  }

  #end(id: ResourceId, gone: NonNullable<SessionResource['gone']>): void {
    const known = this.#byId.get(id)
    // The first reason stays, because it is final.
    if (known !== undefined && known.gone === undefined) this.#byId.set(id, { ...known, gone })
  }
}
