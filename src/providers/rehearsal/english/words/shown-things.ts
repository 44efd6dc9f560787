import { phrase } from './phrase.ts'

/** What a request has before the eyes of a model when a text is read. */
export interface Showing {
  /** With what was just said, only before it, told of and not shown, or not even that. */
  readonly where: 'here' | 'earlier' | 'told' | 'nowhere'
  /** Handles that need no view: of what is shown, and of what was just asked for and could not be. */
  readonly settled: ReadonlySet<string>
  /** Handles of what is told of and not shown, in order. */
  readonly told: readonly string[]
}

export const NOTHING_SHOWN: Showing = { where: 'nowhere', settled: new Set(), told: [] }

/** Where handles stand in a text. */
export function handlesIn(
  text: string,
): { readonly handle: string; readonly start: number; readonly end: number }[] {
  return [...text.matchAll(HANDLES)].map(({ 0: handle, index: start }) => {
    return { handle, start, end: start + handle.length }
  })
}

const HANDLES = /@(?:img|pdf|txt|file|link)[1-9]\d*(?!\w)/g

/** What lies in the workspace is looked at by calls. */
export const OF_FILES = phrase`
  {ANY}|(?<!\w)(?:{FOLDER}|files|scripts?|modules?|projects?|repo(?:sitory)?|workspace
  |code)(?!\w)`

export const SHOWN_THINGS = phrase`
  (?<!\w)(?:pictures?|images?|photo(?:graph)?s?|screenshots?|drawings?|illustrations?|diagrams?
  |attachments?|attached|pdfs?|document)(?!\w)`
