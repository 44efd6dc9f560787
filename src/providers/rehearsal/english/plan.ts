import type { Call } from './call.ts'
import { asTyped, type MaskedText } from './literals.ts'
import { phrase } from './phrase.ts'

/** "Plan: …" and "make a plan: …" take the whole text; its steps are entries, not commands. */
export function planIn({ text, literals }: MaskedText): Call | undefined {
  const entries = planEntries(PLAN.exec(text)?.[1] ?? '')
    .map((entry) => asTyped(entry, literals).trim())
    .map((entry) => entry.replace(MARK, '').replace(/[.;,]$/, ''))
    .filter((content) => content !== '')
    .map((content) => ({ content, status: 'pending' }))
  return entries.length === 0 ? undefined : { name: 'update_plan', arguments: { entries } }
}

const PLAN = phrase`
  ^\s*(?:please )?(?:(?:make|write|note) (?:an? |the )?(?:short )?)?plan ?:\s*(.+)$`
const MARK = /^(?:[-*•]|\(?\d{1,2}[.)])\s*/

/** One entry per line, or on a single line, separated by commas. */
function planEntries(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.length > 1 ? lines : text.split(phrase`[,;] ?(?:(?:and |then )+)?| (?:and )?then `)
}
