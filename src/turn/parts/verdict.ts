import { failed, type ErrorKind, type HawserError } from '../../model/errors.ts'
import type { EventData, EventDraft } from '../../model/events/event.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { Decision } from '../../policy/decide.ts'
import type { PermissionAnswer, PermissionSubject } from './permission.ts'

type PermissionDecision = EventData<'permission_decision'>

/** How a question of permission ended: by an answer of the person, or by the policy. */
export type Verdict = Omit<PermissionAnswer, 'by'> & Pick<PermissionDecision, 'by'>

/** The answer of the policy, with the rule that decided, if any. */
export function byPolicy({ answer, by: [first] = [] }: Pick<Decision, 'answer' | 'by'>): Verdict {
  const ruled = first === undefined ? { scope: 'once' as const } : first
  return { isAllowed: answer === 'allow', by: 'policy', ...ruled }
}

/** The Event of a question that is open. */
export function askedDraft({
  call_id,
  ...about
}: PermissionSubject): EventDraft<'permission_asked'> {
  const call = call_id === undefined ? {} : { call_id }
  return { type: 'permission_asked', data: { ...call, ...about } }
}

/** The Event of a verdict. */
export function verdictDraft(
  { call_id, ...about }: PermissionSubject,
  { isAllowed, scope, by, rule, reason }: Verdict,
): EventDraft<'permission_decision'> {
  return {
    type: 'permission_decision',
    data: {
      ...definedFields({ call_id }),
      ...about,
      decision: isAllowed ? 'allowed' : 'denied',
      scope,
      by,
      ...definedFields({ rule, reason }),
    },
  }
}

const REFUSED_BY = {
  policy: 'Not permitted',
  person: 'Denied by the user',
  timeout: 'The user did not answer in time',
  interrupt: 'The Turn ended before the user answered',
  nobody: 'This requires permission, and no user is available to ask',
} as const

/** The refusal that a verdict means, for the model and the Log. */
export function refusal(
  kind: Extract<ErrorKind, 'permission_denied' | 'hydration_denied'>,
  why: string,
  { by, reason }: Verdict,
): HawserError {
  const explanation = reason === undefined ? '' : ` Their reason: ${reason}`
  return failed(kind, `${REFUSED_BY[by]}: ${why}.${explanation}`, { by }).error
}
