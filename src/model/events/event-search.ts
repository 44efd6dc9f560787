import type { Descriptor } from '../descriptor.ts'
import type { HawserError } from '../errors.ts'
import type { EventType } from './event.ts'

/** What to search for in the Log of a Session. */
export interface HistorySearch {
  /** Must not be global: each line is searched from its start. */
  readonly pattern: RegExp
  /** Only this Turn, by its number from 1; only this Event. */
  readonly turn?: number | undefined
  readonly seq?: number | undefined
  /** Maximum number of returned matches. */
  readonly limit: number
}

/** Where a text of the Log is. */
export interface HistoryPlace {
  readonly seq: number
  /** Absent outside of a Turn. */
  readonly turn?: number | undefined
  readonly type: EventType
  /** The tool of a call or result. */
  readonly tool?: string | undefined
}

/** A line that matches. */
export interface HistoryMatch extends HistoryPlace {
  /** Its path in the Event's data, such as `output` or `arguments.command`. */
  readonly field: string
  /** The Resource whose content it is in. It may be shown only if the Resource may. */
  readonly resource?: Descriptor | undefined
  readonly text: string
  readonly start: number
  readonly end: number
}

/** What a search found, the newest Event first. Nothing was left out, except as stated here. */
export interface HistoryFindings {
  readonly matches: readonly HistoryMatch[]
  /** The number of matches, which may exceed the returned ones; counted up to a limit. */
  readonly matchCount: number
  readonly isCounted: boolean
  /** The number of Turns in the Log. */
  readonly turns: number
  /** Set if the search stopped early: what is older than this Turn, or in it, may not have been searched. */
  readonly stop?: { readonly turn?: number | undefined; readonly why: 'timeout' | 'too_complex' }
  /** Texts that could not be searched. */
  readonly unread: readonly { readonly seq: number; readonly why: UnreadBecause }[]
  /** Why older Events could not be read. */
  readonly damage?: HawserError | undefined
}

type UnreadBecause = 'missing' | 'damaged' | 'dropped' | 'quarantined'

/** The part of a text to read, in characters. */
export interface PageRange {
  readonly offset: number
  readonly length: number
}

/** Part of the text of an Event. */
export interface EventPage extends HistoryPlace {
  readonly text: string
  /** The length of the whole text. */
  readonly characters: number
  /** Set if the whole output of a command is unavailable, so that the text is the truncated one. */
  readonly unread?: 'missing' | 'damaged' | undefined
}
