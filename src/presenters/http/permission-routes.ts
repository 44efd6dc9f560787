import { failed, ok, type Result } from '../../model/errors.ts'
import type { ChosenAnswer, Question } from '../../session/questions/session-questions.ts'
import { route } from './exchange/route.ts'
import { PermissionBody } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'
import type { Workspaces } from '../../session/workspace/open-workspaces.ts'

/** Answers permission questions. */
export const PERMISSION_ROUTES = [
  route('POST /api/harness/permission', {
    summary: 'Answers a permission question. The first answer counts.',
    body: PermissionBody,
    answer: 'Answered',
    handle: async ({ workspaces, settledQuestions }: ServerParts, { body }) => {
      const { requestId } = body
      const answered = await answer(workspaces, body)
      if (answered.ok) return ok({ requestId })
      // Its Session may be closed by now, and does not know it any more.
      return answered.error.kind === 'not_found' && settledQuestions.has(requestId)
        ? CLOSED
        : answered
    },
  }),
]

const CLOSED = failed(
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
