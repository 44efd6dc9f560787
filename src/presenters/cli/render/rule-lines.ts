import * as z from 'zod'
import { Rule, ruleSubject } from '../../../model/rule.ts'
import { Count } from '../../../model/shape.ts'
import { visibleLine } from '../text/visible-text.ts'

/** A rule in JSON output. */
export const ListedRule = z.object({
  number: Count.describe('What `hawser permissions remove` takes.'),
  rule: Rule,
  created_at: z.string().describe('When it was made.'),
})
export type ListedRule = z.infer<typeof ListedRule>

export function listedRule(
  { rule, at }: { readonly rule: Rule; readonly at: string },
  index: number,
): Omit<ListedRule, 'rule'> & { readonly rule: Rule } {
  return { number: index + 1, rule, created_at: at }
}

/** A rule for people: number, answer and coverage. */
export function ruleLine({
  number,
  rule,
}: {
  readonly number: number
  readonly rule: Rule
}): string {
  return `${String(number).padStart(3)}  ${ruleWords(rule)}\n`
}

export function ruleWords(rule: Rule): string {
  return `${rule.answer.padEnd(5)}  ${visibleLine(ruleSubject(rule))}`
}
