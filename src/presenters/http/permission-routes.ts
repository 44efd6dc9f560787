import { Hono } from 'hono'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { ChosenAnswer, Question } from '../../session/questions/session-questions.ts'
import { answerFailure, answerResult, type RequestVariables } from './exchange/answer.ts'
import { PermissionBody } from './protocol.ts'
import { jsonBody } from './exchange/request-body.ts'
import type { ServerParts } from './server-parts.ts'
import type { Workspaces } from '../../session/workspace/open-workspaces.ts'

/** Answers permission questions. */
export function permissionRoutes({ workspaces, settled }: ServerParts): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  routes.post('/permission', async (context) => {
    const body = await jsonBody(context.req.raw, PermissionBody)
    if (!body.ok) return answerFailure(context, body.error)
    const { requestId } = body.value
    const answered = await answer(workspaces, body.value)
    if (answered.ok) return answerResult(context, ok({ requestId }))
    // Its Session may be closed by now, and does not know it any more.
    const isClosed = answered.error.kind === 'not_found' && settled.has(requestId)
    return answerFailure(context, isClosed ? CLOSED : answered.error)
  })
  return routes
}

const { error: CLOSED } = failed(
  'question_closed',
  'This question is closed: it was answered, or its Turn ended.',
)

async function answer(workspaces: Workspaces, request: PermissionBody): Promise<Result<void>> {
  const { requestId } = request
  for (const { harness } of await workspaces.all()) {
    const questions = harness.questionsWith(requestId)
    if (questions === undefined) continue
    const open = questions.open.find(({ request_id }) => request_id === requestId)
    if (open === undefined) return questions.answer(requestId, { choice: 1 })
    const chosen = chosenAnswer(open, request)
    return chosen.ok ? questions.answer(requestId, chosen.value) : chosen
  }
  return failed('not_found', 'No open Session asks this question.')
}

/** The first choice with this decision and scope is the narrowest. Without a scope, the answer is for this call only. */
function chosenAnswer(
  { choices }: Pick<Question, 'choices'>,
  { decision, scope, choice, text }: Omit<PermissionBody, 'requestId'>,
): Result<ChosenAnswer> {
  const found = choices.find(
    (one) =>
      (choice === undefined || one.number === choice) &&
      (decision === undefined || one.decision === decision) &&
      (one.scope === scope ||
        (scope === undefined && (choice !== undefined || one.scope === 'once'))),
  )
  if (found === undefined) {
    return failed('invalid_args', 'This question has no such choice.', { choices })
  }
  return ok({ choice: found.number, text })
}
