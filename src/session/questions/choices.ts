import { prefixText, type Rule, type RuleScope } from '../../model/rule.ts'
import { ok } from '../../model/errors.ts'
import type { EphemeralData } from '../../model/events/event.ts'
import type { PermissionAnswer, PermissionQuestion } from '../../turn/parts/permission.ts'

type Offer = PermissionQuestion['offers'][number]

/** One of the answers that a person can choose. */
export type Choice =
  | { readonly kind: 'once' }
  | { readonly kind: 'rule'; readonly offer: Offer; readonly scope: RuleScope }
  | { readonly kind: 'no' }

/** In the order they are numbered: from the narrowest yes to the widest, then no. Pure. */
export function choicesOf({ offers }: Pick<PermissionQuestion, 'offers'>): readonly Choice[] {
  const lasting = SCOPES.flatMap((scope) =>
    offers
      .filter(({ scopes }) => scopes.includes(scope))
      .map((offer): Choice => ({ kind: 'rule', offer, scope })),
  )
  return [{ kind: 'once' }, ...lasting, { kind: 'no' }]
}

/** A choice as clients see it. */
export function shownChoice(choice: Choice, at: number): ShownChoice {
  const field = fieldOf(choice)
  return {
    number: at + 1,
    text: choiceText(choice),
    decision: choice.kind === 'no' ? 'denied' : 'allowed',
    scope: choice.kind === 'rule' ? choice.scope : 'once',
    ...(choice.kind === 'rule' ? { rule: choice.offer.rule } : {}),
    ...(field === undefined ? {} : { field }),
  }
}

type ShownChoice = EphemeralData<'permission_requested'>['choices'][number]

function choiceText(choice: Choice): string {
  switch (choice.kind) {
    case 'once':
      return 'Yes, once'
    case 'rule':
      return `Yes, for this ${SCOPE_NAMES[choice.scope]}: ${coverageWords(choice.offer.rule)}`
    case 'no':
      return 'No'
    default:
      return choice satisfies never
  }
}

/** Text that a person can edit before the choice is final; `undefined` if a choice needs none. */
function fieldOf(choice: Choice): ShownChoice['field'] {
  if (choice.kind === 'no') return { label: 'Reason for the model (optional): ', text: '' }
  if (choice.kind !== 'rule' || choice.offer.reword === undefined) return undefined
  const { rule } = choice.offer
  const text = rule.kind === 'prefix' ? prefixText(rule.words) : ''
  return { label: 'Allow commands that start with: ', text }
}

/** The answer for a choice and its text, or an error message if the text is invalid. Without text, a rule stays as offered. */
export function answerOf(choice: Choice, words: string | undefined): PermissionAnswer | string {
  switch (choice.kind) {
    case 'once':
      return { isAllowed: true, scope: 'once', by: 'person' }
    case 'no':
      return words === undefined || words.trim() === '' ? NO : { ...NO, reason: words.trim() }
    case 'rule': {
      const { scope, offer } = choice
      const offered = ok(offer.rule)
      const rule = words === undefined ? offered : (offer.reword?.(words) ?? offered)
      if (!rule.ok) return rule.error.message
      return { isAllowed: true, scope, by: 'person', rule: rule.value }
    }
    default:
      return choice satisfies never
  }
}

const NO: PermissionAnswer = { isAllowed: false, scope: 'once', by: 'person' }

const SCOPES: readonly RuleScope[] = ['session', 'workspace']
const SCOPE_NAMES = { session: 'Session', workspace: 'workspace' } as const

function coverageWords(rule: Rule): string {
  switch (rule.kind) {
    case 'command':
      return 'this command in this folder'
    case 'prefix':
      return `commands that start with \`${prefixText(rule.words)}\` …`
    case 'file':
      return 'changes to this file'
    case 'folder':
      return rule.path === '.'
        ? 'changes to any file in the workspace'
        : `changes to files in ${rule.path}/`
    case 'upload':
      return 'sending attached files to the model'
    default:
      return rule satisfies never
  }
}
