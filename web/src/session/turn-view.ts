import type { Descriptor } from '../../../src/model/descriptor.ts'
import type { EphemeralData, EventData } from '../../../src/model/events/event.ts'
import type { ResultNotice } from '../../../src/history/results/event-notices.ts'

/** What the transcript draws of one Turn, and of what happened between two Turns. */
export interface TurnView {
  readonly key: string
  readonly turnId: string | undefined
  /** The number of its first Event. */
  readonly seq: number
  readonly startedAt: string
  /** Where its message came from, such as `http` or `cli`. */
  readonly presenter: string
  readonly messageKey: string | undefined
  readonly status: EventData<'turn_ended'>['status'] | 'open' | 'between'
  readonly error: { readonly kind: string; readonly message: string } | undefined
  readonly crashRecovered: boolean
  readonly usage: EventData<'turn_ended'>['usage_total'] | undefined
  readonly items: readonly TurnItem[]
  /** The Resources whose bytes a request of this Turn has. */
  readonly projected: ReadonlySet<string>
  /** In words, the Resources that the model could not get on this Turn, and why. */
  readonly losses: ReadonlyMap<string, string>
  /** The Turn writes the summary of a checkpoint, and has no face. */
  readonly isHidden: boolean
}

export type TurnItem =
  | MessageItem
  | {
      readonly kind: 'answer'
      readonly seq: number
      readonly text: string
      readonly isPartial: boolean
      readonly resources: readonly Descriptor[]
    }
  | { readonly kind: 'thinking'; readonly seq: number; readonly text: string }
  | CallItem
  | {
      readonly kind: 'plan'
      readonly seq: number
      readonly entries: EventData<'plan_updated'>['entries']
    }
  | ViewItem
  | ({ readonly kind: 'notice'; readonly seq: number } & ResultNotice)
  | {
      readonly kind: 'decision'
      readonly seq: number
      readonly decision: EventData<'permission_decision'>
    }
  | {
      readonly kind: 'command'
      readonly seq: number
      readonly command: EventData<'shell_command'>
      readonly result?: EventData<'shell_result'>
    }

export interface MessageItem {
  readonly kind: 'message'
  readonly seq: number
  readonly message: EventData<'user_message'>
}

/** A Resource of an earlier Turn, whose bytes are sent again. */
export interface ViewItem {
  readonly kind: 'view'
  readonly seq: number
  readonly view: EventData<'resource_view'>
  /** Absent if the Turn that added it is not loaded. */
  readonly descriptor: Descriptor | undefined
}

/** Text that was added to a running Turn. */
export interface Steered {
  readonly seq: number
  readonly text: string
}

export interface CallItem {
  readonly kind: 'call'
  readonly seq: number
  readonly call: EventData<'tool_call'>
  readonly result?: EventData<'tool_result'>
}

/** What happens now and is not in the Log: it is lost on reload, and that is harmless. */
export interface LiveView {
  readonly text: string
  readonly thinking: string
  readonly status: string
  readonly progress: ReadonlyMap<string, string>
  readonly pressure: EphemeralData<'context_pressure'> | undefined
}

export type Question = EphemeralData<'permission_requested'>

/** A question that the Log has and that this server does not ask: another process does. */
export interface QuestionElsewhere {
  readonly subject: string
  readonly turnId: string | undefined
}

export const NOTHING_LIVE: LiveView = {
  text: '',
  thinking: '',
  status: '',
  progress: new Map(),
  pressure: undefined,
}
