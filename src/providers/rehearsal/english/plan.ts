import { asTyped, type Masked } from './words/literals.ts'
import { phrase } from './words/phrase.ts'
import type { Call } from './reading.ts'

/** "Make a plan: …" takes the whole text; its steps are not tasks. */
export function planAsked({ text, literals }: Masked): Call | undefined {
  const found = PLAN.exec(text) ?? HEADED.exec(text)
  const entries = stepsOf(found?.[1] ?? '')
    .map((step) => asTyped(step, literals).trim())
    .map((step) => step.replace(/[.;,]$/, ''))
    .filter((content) => content !== '')
    .map((content) => ({ content, status: 'pending' }))
  return entries.length === 0 ? undefined : { name: 'update_plan', arguments: { entries } }
}

const PLAN = phrase`
  ^[^\n:]{0,60}?(?:^|\s)(?:(?:make|create|write|draw up|set up|set|start|give|note|keep|track
  |update|use|here is|here's) (?:me |us |down )?(?:{ADET}|new |short |simple |quick |following )*
  (?:plan|to-?do list|task list|checklist)|plan (?:these |the )?(?:following )?(?:steps|tasks
  |things|work))\b[^:\n]{0,60}[:\n]\s*(.+)$`
/** "Plan:" and what follows. */
const HEADED = phrase`^\s*(?:(?:my|the|our|your|here is the|here's the) )?plan\s*:\s*(.+)$`

/** A step a line; on one line, what commas and words of order part. */
function stepsOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const steps =
    lines.length > 1 ? lines : text.split(phrase`\s*[,;]\s*|\s+(?:and )?then\s+|\s(?=\d[.)]\s)`)
  return steps.map((step) =>
    step
      .trim()
      .replace(MARK, '')
      .replace(phrase`^(?:and |then )+`, ''),
  )
}

const MARK = /^(?:[-*•]|\(?\d{1,2}[.)]|\[[ x]?\])\s*/i
