import type { Context } from 'hono'
import type { HawserError } from '../../../model/errors.ts'
import { failureAnswer, type FailureAnswer } from './failure-answer.ts'

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
