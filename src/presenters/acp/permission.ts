import { join } from 'node:path'
import type { PermissionOption, RequestPermissionRequest } from '@agentclientprotocol/sdk'
import type { SessionId } from '../../model/ids.ts'
import type { ChosenAnswer, Question } from '../../session/questions/session-questions.ts'
import { asContent, codeFence, shownCall, textBlock } from './tool-call.ts'

/** A question as a client asks it: with the same answers as in a terminal. Pure. */
export function permissionRequest(
  question: Question,
  sessionId: SessionId,
  workspace: string,
): RequestPermissionRequest {
  const { request_id, call_id, tool, diff, reason, upload, paths } = question
  const call = shownCall({ name: tool, arguments: question.arguments ?? '' }, workspace)
  const title = upload === undefined ? call.title : `Send ${upload.name} to the model`
  const locations =
    call.locations.length > 0
      ? call.locations
      : paths.map((path) => ({ path: join(workspace, path) }))
  return {
    sessionId,
    toolCall: {
      ...call,
      title,
      // About an attachment, there is no call.
      toolCallId: call_id ?? request_id,
      status: 'pending',
      locations,
      content: [
        ...(reason === '' ? [] : [asContent(textBlock(reason))]),
        ...(diff === undefined ? [] : [asContent(textBlock(changeWords(diff)))]),
      ],
    },
    options: question.choices.map(optionOf),
  }
}

function changeWords(diff: string): string {
  return diff === '' ? 'The content of the file stays the same.' : codeFence(diff)
}

function optionOf({
  number,
  text,
  decision,
  scope,
}: Question['choices'][number]): PermissionOption {
  const kind =
    decision === 'denied' ? 'reject_once' : scope === 'once' ? 'allow_once' : 'allow_always'
  return { optionId: String(number), name: text, kind, _meta: { hawser: { scope } } }
}

/** The answer of a client. Whatever is not one of the offered choices denies the call. Pure. */
export function answerTo({ choices }: Pick<Question, 'choices'>, response: unknown): ChosenAnswer {
  const chosen = choices.find(({ number }) => String(number) === optionIn(response))
  if (chosen !== undefined) return { choice: chosen.number }
  return denial({ choices }, 'The editor closed the question without an answer.')
}

/** The last choice is always no. */
export function denial({ choices }: Pick<Question, 'choices'>, text: string): ChosenAnswer {
  const no = choices.findLast(({ decision }) => decision === 'denied')
  return { choice: no?.number ?? choices.length, text }
}

function optionIn(response: unknown): unknown {
  if (typeof response !== 'object' || response === null || !('outcome' in response))
    return undefined
  const { outcome } = response
  if (typeof outcome !== 'object' || outcome === null || !('optionId' in outcome)) return undefined
  return 'outcome' in outcome && outcome.outcome === 'selected' ? outcome.optionId : undefined
}
