import type { Clock } from '../../../host/clock.ts'
import type {
  EphemeralData,
  EphemeralEvent,
  EventData,
  WholeEvent,
} from '../../../model/events/event.ts'
import { callTitle } from '../screen/tool-rows.ts'
import { visibleText } from '../text/visible-text.ts'

/** What a running Turn waits for. */
export type AwaitedThing =
  | { readonly kind: 'nothing' | 'model' | 'thinking' | 'answer' }
  | { readonly kind: 'work'; readonly text: string }
  | {
      readonly kind: 'retry'
      readonly retry: NonNullable<EphemeralData<'status'>['retry']>
      readonly untilMs: number
    }

export interface LiveCall {
  readonly title: string
  readonly sinceMs: number
  /** The last lines of its output, the last one perhaps unfinished. */
  readonly output: string
  readonly notice: string
}

type PlanEntries = EventData<'plan_updated'>['entries']

/** What is running, as far as this process knows. Times are readings of the monotonic clock. */
export interface ActivityFacts {
  readonly waitsFor: AwaitedThing
  /** When the running Turn began; absent if none runs. */
  readonly sinceMs: number | undefined
  /** Tokens that the model wrote in this Turn. `isEstimate`: part of an answer is estimated by its length. */
  readonly tokens: { readonly count: number; readonly isEstimate: boolean }
  readonly calls: readonly LiveCall[]
  /** The end of the thinking that arrives now. */
  readonly thinking: string
  /** Texts that were added to the Turn and are not recorded yet. */
  readonly steering: readonly string[]
  /** The plan, if this Turn changed it. */
  readonly plan: PlanEntries
}

/** More is never shown, and output and thinking may be endless. */
const LONGEST_LINE = 500
export const OUTPUT_LINES = 5
const LONGEST_THINKING = 2_000
/** A rule of thumb, only until the vendor reports the number. */
const CHARACTERS_PER_TOKEN = 4

/** Follows the Events and notices of a Session, and knows what is running. */
export class TurnActivity {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #waitsFor: AwaitedThing = NOTHING
  #sinceMs: number | undefined
  #tokens = 0
  #characters = 0
  #thinking = ''
  #calls = new Map<string, LiveCall>()
  #steering: string[] = []
  #plan: PlanEntries = []

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  get facts(): ActivityFacts {
    return {
      waitsFor: this.#waitsFor,
      sinceMs: this.#sinceMs,
      tokens: {
        count: this.#tokens + Math.round(this.#characters / CHARACTERS_PER_TOKEN),
        isEstimate: this.#characters > 0,
      },
      calls: [...this.#calls.values()],
      thinking: this.#thinking,
      steering: this.#steering,
      plan: this.#plan,
    }
  }

  /** A durable Event. */
  take(event: WholeEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.rest()
        this.#sinceMs = this.#clock.monotonicMs()
        break
      case 'provider_request':
        this.#waitsFor = { kind: 'model' }
        this.#characters = 0
        break
      case 'provider_usage':
        this.#tokens += event.data.usage.output
        this.#characters = 0
        break
      case 'reasoning':
        this.#thinking = ''
        break
      case 'tool_call':
        this.#thinking = ''
        this.#begin(event.data.call_id, callTitle(event.data))
        break
      case 'shell_command':
        this.#begin(event.data.command_id, `! ${event.data.command.split('\n')[0] ?? ''}`)
        break
      case 'permission_decision':
        this.#restart(event.data.call_id)
        break
      case 'tool_result':
        this.#calls.delete(event.data.call_id)
        break
      case 'shell_result':
        this.#calls.delete(event.data.command_id)
        break
      case 'plan_updated':
        this.#plan = event.data.entries
        break
      case 'user_message':
        if (event.data.steer === true) this.forgetSteering(event.data.text)
        break
      case 'turn_ended':
        this.rest()
        break
      // Event types that say nothing about what is running. All are listed, so that a new type requires a decision.
      case 'session_started':
      case 'session_fork':
      case 'session_settings':
      case 'prompt_surface':
      case 'late_context':
      case 'project_instructions':
      case 'skill_activation':
      case 'skill_context_hydration':
      case 'assistant_message':
      case 'command_watched':
      case 'workspace_snapshot':
      case 'permission_asked':
      case 'resource_ingested':
      case 'resource_view':
      case 'resource_retired':
      case 'resource_dropped':
      case 'resource_quarantined':
      case 'history_compaction':
      case 'compaction_undone':
      case 'files_restored':
      case 'text_pinned':
      case 'text_unpinned':
      case 'log_repaired':
      case 'lock_taken':
      case 'notice':
        break
      default:
        event satisfies never
    }
  }

  notice(notice: EphemeralEvent): void {
    switch (notice.type) {
      case 'text_delta':
        this.#waitsFor = { kind: 'answer' }
        this.#characters += notice.data.text.length
        this.#thinking = ''
        break
      case 'reasoning_delta':
        this.#waitsFor = { kind: 'thinking' }
        this.#characters += notice.data.text.length
        this.#thinking = (this.#thinking + notice.data.text).slice(-LONGEST_THINKING)
        break
      case 'tool_progress':
        this.#progress(notice.data)
        break
      case 'status':
        this.#waitsFor = this.#statusOf(notice.data)
        break
      case 'stream_restarted':
        this.#characters = 0
        break
      case 'context_pressure':
      case 'permission_requested':
      case 'permission_settled':
        break
      default:
        notice satisfies never
    }
  }

  /** Text was added to the running Turn; it is shown until it is in the Log. */
  addSteering(text: string): void {
    this.#steering.push(text)
  }

  forgetSteering(text: string): void {
    const at = this.#steering.indexOf(text)
    this.#steering = this.#steering.filter((_, index) => index !== at)
  }

  /** As far as this process knows, nothing is running. */
  rest(): void {
    this.#calls.clear()
    this.#waitsFor = NOTHING
    this.#sinceMs = undefined
    this.#tokens = 0
    this.#characters = 0
    this.#thinking = ''
    this.#plan = []
  }

  #begin(id: string, title: string): void {
    const sinceMs = this.#clock.monotonicMs()
    this.#calls.set(id, { title, sinceMs, output: '', notice: '' })
  }

  /** The call runs from now on; before that, it waited for the person. */
  #restart(id: string | undefined): void {
    const call = id === undefined ? undefined : this.#calls.get(id)
    if (id === undefined || call === undefined) return
    this.#calls.set(id, { ...call, sinceMs: this.#clock.monotonicMs() })
  }

  #progress({ call_id, text, notice }: EphemeralData<'tool_progress'>): void {
    const call = this.#calls.get(call_id)
    if (call === undefined) return
    const news =
      notice === true
        ? { notice: visibleText(text.trimEnd()) }
        : { output: lastLines(call.output + visibleText(text)) }
    this.#calls.set(call_id, { ...call, ...news })
  }

  #statusOf({ text, retry }: EphemeralData<'status'>): AwaitedThing {
    if (retry === undefined) return { kind: 'work', text }
    return { kind: 'retry', retry, untilMs: this.#clock.monotonicMs() + retry.delay_ms }
  }
}

const NOTHING: AwaitedThing = { kind: 'nothing' }

/** The last lines that are not blank, each at most as long as is ever shown. */
function lastLines(text: string): string {
  const lines = text.split('\n')
  const open = lines.pop() ?? ''
  const shown = lines.filter((line) => line.trim() !== '').slice(-OUTPUT_LINES)
  return [...shown, open].map((line) => line.slice(-LONGEST_LINE)).join('\n')
}
