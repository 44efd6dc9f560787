import type { Clause } from './clauses.ts'
import { phrase } from './phrase.ts'

/** Where a request shows bytes: with what was just said, only before it, or nowhere. */
export type WhereShown = 'here' | 'earlier' | 'nowhere'

/**
 * Whether a clause asks to look at what is shown, and not for a call. A handle always does. Words like "picture" do so where
 * anything is shown; "it" and "how many pages" only where something came with them and no file was named.
 */
export function asksToLook(
  { text, opening }: Clause,
  shown: WhereShown,
  fileNamed: boolean,
): readonly string[] | undefined {
  const { mood, family } = opening
  const asks = mood === 'asks' && (family === 'see' || family === 'list' || family === 'find')
  if (!asks && mood !== 'wonders' && !ABOUT.test(text)) return undefined
  const handles = text.match(HANDLES) ?? []
  if (handles.length > 0) return handles
  if (shown === 'nowhere' || OF_FILES.test(text)) return undefined
  const named = family === 'see' || mood !== 'asks' ? SHOWN_THINGS.test(text) : false
  if (named || WHAT_IS_SEEN.test(text)) return []
  return shown === 'here' && !fileNamed && POINTED_OR_MEASURED.test(text) ? [] : undefined
}

/** "What do you see?", whether or not there is anything. */
export function asksWhatIsSeen(text: string): boolean {
  return WHAT_IS_SEEN.test(text)
}

/** Links have handles too, but nothing of them is ever shown. */
const HANDLES = /@(?:img|pdf|txt|file)[1-9]\d*(?!\w)/g

const ABOUT = phrase`^(?:please |can you |could you )?tell me (?:more |something )?about `

/** What lies in the workspace is looked at by calls. */
const OF_FILES = phrase`
  {ANY}|(?<!\w)(?:{FOLDER}|files|scripts?|modules?|projects?|repo(?:sitory)?|workspace
  |code)(?!\w)`

const SHOWN_THINGS = phrase`
  (?<!\w)(?:pictures?|images?|photo(?:graph)?s?|screenshots?|drawings?|illustrations?|diagrams?
  |attachments?|attached|pdfs?|document)(?!\w)`

const WHAT_IS_SEEN = phrase`
  (?:^|\s)what (?:do|can|did) you see(?: here| there| now)?[\s?!.]*$
  |(?:^|\s)what you (?:can )?see(?: here| there| now)?[\s?!.]*$`

/** Whatever came with these words is meant, by a word that points, or by what only it can have. */
const POINTED_OR_MEASURED = phrase`
  ^(?:so )?what(?:'s| is| are) (?:this|that|it|these|those|here|there|shown|in (?:it|here
  |this|that|them))(?: here| there| exactly)?[\s?!.]*$
  |^what (?:does|do) (?:it|this|that|they|these) (?:show|depict|say|contain|look like)[\s?!.]*$
  |(?<!\w)(?:describe|look at|see|view|explain|analy[sz]e|summari[sz]e|examine|inspect|check out
  |tell me about) (?:it|this|that|these|them|those|what you see)(?: in detail| for me)?[\s?!.]*$
  |^(?:please |tell me )?(?:how (?:many|big|large|wide|high|tall|long)|(?:what|which)(?: is| are)?
  (?: the| its| their)?|count(?: the| its| all)*|list(?: the| its| all)*) (?:pages?|words?|lines?
  |pixels?|colou?rs?|dimensions?|size|width|height|format|resolution|is it|are they|is this
  |is that)(?!\w)`
