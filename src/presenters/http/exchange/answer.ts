import type { Context } from 'hono'
import type { HawserError, Result } from '../../../model/errors.ts'
import { failureAnswer, sessionFailure, type FailureAnswer } from './failure-answer.ts'

/** The variables of a request. */
export interface RequestVariables {
  Variables: { requestId: string; error?: string }
}

/** Sends an error response, and leaves its kind for the log. */
export function sendAnswer(context: Context<RequestVariables>, answer: FailureAnswer): Response {
  context.set('error', context.get('error') ?? answer.body.error.kind)
  return context.json(answer.body, answer.status)
}

export function answerFailure(context: Context<RequestVariables>, error: HawserError): Response {
  return sendAnswer(context, failureAnswer(error))
}

/** Sends what a route found: its value as JSON, or the failure of a Session or a value. */
export function answerResult<T extends object>(
  context: Context<RequestVariables>,
  result: Result<T>,
  status: 200 | 201 = 200,
): Response {
  if (!result.ok) return sendAnswer(context, sessionFailure(result.error))
  return context.json({ ok: true, ...result.value }, status)
}
