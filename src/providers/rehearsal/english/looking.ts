import type { Clause } from './words/clauses.ts'
import { phrase } from './words/phrase.ts'
import { handlesIn, OF_FILES, SHOWN_THINGS, type Showing } from './words/shown-things.ts'

/** What is to be looked at: the handles that were named, whatever the words point at, or all there is. */
export interface Looks {
  readonly at: 'named' | 'pointed' | 'all'
  readonly handles: readonly string[]
}

/**
 * What a clause asks to look at, apart from what it has called into view. A handle always asks. Words like "picture" do so
 * where anything is shown or told of; "it" and "how many pages" only where something came with them and no file was named.
 */
export function asksToLook(
  { text, opening }: Clause,
  { where }: Showing,
  { viewed, fileNamed }: { readonly viewed: readonly string[]; readonly fileNamed: boolean },
): Looks | undefined {
  const { mood, family } = opening
  const asks = mood === 'asks' && (family === 'see' || family === 'list' || family === 'find')
  if (!asks && mood !== 'wonders' && !ABOUT.test(text)) return undefined
  const handles = handlesIn(text).map(({ handle }) => handle)
  const others = handles.filter((handle) => !viewed.includes(handle))
  if (others.length > 0) return { at: 'named', handles: others }
  if (viewed.length > 0 || where === 'nowhere' || OF_FILES.test(text)) return undefined
  if (WHAT_IS_SEEN.test(text)) return { at: 'all', handles: [] }
  const named = family === 'see' || mood !== 'asks' ? SHOWN_THINGS.test(text) : false
  const pointed = where === 'here' && POINTED_OR_MEASURED.test(text)
  return !fileNamed && (named || pointed) ? { at: 'pointed', handles: [] } : undefined
}

/** "What do you see?", whether or not there is anything. */
export function asksWhatIsSeen(text: string): boolean {
  return WHAT_IS_SEEN.test(text)
}

const ABOUT = phrase`^(?:please |can you |could you )?tell me (?:more |something )?about `

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
