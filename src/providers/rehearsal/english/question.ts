import type { Context, Reading } from './call.ts'
import { read } from './files.ts'
import { list } from './find.ts'
import { phrase } from './phrase.ts'

/** "What did it say?" is about the last result; "what is in notes.txt?" and "which files are here?" need a call. */
export function question(step: string, context: Context): Reading | undefined {
  if (LAST_RESULT.test(step)) return { asksLastResult: true }
  const [, place] = WHAT_IS_IN.exec(step) ?? []
  if (place !== undefined)
    return phrase`{NAME}$`.test(place) && !place.endsWith('/')
      ? (read(place, context) ?? list(`files in ${place}`, context))
      : list(`files in ${place}`, context)
  const [, where = ''] = WHICH_FILES.exec(step) ?? ['', undefined]
  return WHICH_FILES.test(step) ? list(`files ${where}`.trim(), context) : undefined
}

const LAST_RESULT = phrase`
  ^(?:so |and |but |tell me )*(?:what (?:did (?:it|that|you) (?:say|return|print|find|do)|came back|happened
  |went wrong|(?:it|they) says?|is in (?:it|them)|(?:was|is) the (?:last )?(?:result|output|answer|error|exit code))|did (?:it|that) (?:work
  |fail|pass|succeed)|why did (?:it|that) fail|how did (?:it|that) go|(?:show|repeat)(?: me)? the
  (?: last)? (?:result|output)(?: again)?)$`
const WHAT_IS_IN = phrase`^what(?:'?s| is| are)? (?:in|inside) (.+)$`
const WHICH_FILES = phrase`
  ^(?:what|which) files (?:are (?:there|here)|do you see|are)(?: ?(in .+))?$`
