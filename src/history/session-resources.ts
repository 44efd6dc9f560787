import type { Descriptor } from '../model/descriptor.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { ResourceId, TurnId } from '../model/ids.ts'
import { historyOf, type History } from './history.ts'
import { withoutCalls } from './without-calls.ts'

/** Finds a Resource of the Session by the id that Events use. */
export type ResourceOf = (id: ResourceId) => Descriptor | undefined

/** A Resource as recorded in a Log. */
export interface SessionResource {
  readonly descriptor: Descriptor
  /** The Event that added it. */
  readonly seq: number
  readonly turn: TurnId | undefined
  /** Who added it: a person with a message, or the agent with its answer. */
  readonly by: 'person' | 'agent'
  /** Why its bytes are never shown again; absent while they may be. */
  readonly goneBy?: 'dropped' | 'quarantined'
  /** It was added before the checkpoint in force. */
  readonly earlier?: true
}

/**
 * The Resources of a Session, in the order in which they were added; grows with its Log. Of those before a checkpoint, only
 * the newest are known, as its state describes them.
 */
export class SessionResources {
  readonly #byId = new Map<ResourceId, SessionResource>()
  readonly #byHandle = new Map<string, ResourceId>()
  #last = 0

  constructor(all: readonly WholeEvent[] | Pick<History, 'state' | 'events'> = []) {
    const { state, events } = 'events' in all ? all : historyOf(all)
    for (const { descriptor, seq, turn_id: turn, by, fate } of state.resources) {
      this.#bring(descriptor, { seq, turn_id: turn }, by)
      if (fate === 'dropped' || fate === 'quarantined') this.#end(descriptor.resource_id, fate)
    }
    this.#last = Math.max(this.#last, state.handle_counter)
    for (const event of withoutCalls(events)) this.add(event)
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
    } else if (event.type === 'resource_view') {
      const { descriptor } = event.data
      if (descriptor !== undefined && !this.#byId.has(descriptor.resource_id))
        this.#bring(descriptor, event, 'person')
    } else if (event.type === 'resource_dropped') {
      this.#end(event.data.resource_id, 'dropped')
    } else if (event.type === 'resource_quarantined') {
      this.#end(event.data.resource_id, 'quarantined')
    }
  }

  #bring(
    descriptor: Descriptor,
    { seq, turn_id: turn }: Pick<WholeEvent, 'seq'> & { readonly turn_id?: TurnId | undefined },
    by: SessionResource['by'],
  ): void {
    const { resource_id, handle } = descriptor
    this.#byId.set(resource_id, { descriptor, seq, turn, by })
    this.#byHandle.set(handle, resource_id)
    this.#last = Math.max(this.#last, Number(/\d+$/.exec(handle)?.[0] ?? 0))
  }

  #end(id: ResourceId, goneBy: NonNullable<SessionResource['goneBy']>): void {
    const known = this.#byId.get(id)
    // The first reason stays, because it is final.
    if (known !== undefined && known.goneBy === undefined) this.#byId.set(id, { ...known, goneBy })
  }
}
