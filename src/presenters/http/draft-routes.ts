import type { Context } from 'hono'
import type { KeptValue } from '../../host/server/kept-values.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { MessageDraft } from '../../model/messages/message-draft.ts'
import { knownSession } from './attached-session.ts'
import { sendAnswer, type RequestVariables } from './exchange/answer.ts'
import { failureAnswer } from './exchange/failure-answer.ts'
import { ofSession, route } from './exchange/route.ts'
import { SessionParam, TURN_BYTES } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'

/**
 * What a person typed and did not send, for every client that shows the Session. A client names the version that it changes:
 * two of them cannot overwrite each other without seeing it.
 */
export const DRAFT_ROUTES = [
  route('GET /api/harness/session/:id/draft', {
    summary: 'The draft of a Session; `ETag` names its version.',
    ids: SessionParam,
    answer: 'Draft',
    handle: async (parts: ServerParts, { context, ids: { id } }) => {
      const found = await knownSession(parts, id)
      if (!found.ok) return ofSession(found)
      const kept = await parts.drafts.read(id)
      if (!kept.ok) return kept
      return draftResponse(context, kept.value)
    },
  }),
  route('PUT /api/harness/session/:id/draft', {
    summary:
      'Replaces the draft, if `If-Match` names its version, or `If-None-Match: *` and there is none.',
    ids: SessionParam,
    body: MessageDraft,
    limit: TURN_BYTES,
    answer: 'Draft',
    handle: async (parts: ServerParts, { context, ids: { id }, body }) => {
      const found = await knownSession(parts, id)
      if (!found.ok) return ofSession(found)
      const draft = MessageDraft.parse(JSON.parse(parts.redactor.text(JSON.stringify(body))))
      return changeDraft(parts, context, id, draft)
    },
  }),
  route('DELETE /api/harness/session/:id/draft', {
    summary: 'Removes the draft, if `If-Match` names its version.',
    ids: SessionParam,
    answer: 'Draft',
    handle: (parts: ServerParts, { context, ids: { id } }) =>
      changeDraft(parts, context, id, undefined),
  }),
]

async function changeDraft(
  { drafts }: ServerParts,
  context: Context<RequestVariables>,
  id: SessionId,
  draft: MessageDraft | undefined,
): Promise<Response | Result<never>> {
  let other: KeptValue<MessageDraft> | 'none' | undefined
  const kept = await drafts.update(id, (now) => {
    if (isExpected(context, now?.tag)) return ok(draft)
    other = now ?? 'none'
    return CHANGED
  })
  if (other !== undefined) return bothVersions(context, other === 'none' ? undefined : other, draft)
  return kept.ok ? draftResponse(context, kept.value) : kept
}

/** Without a condition, only a draft that does not exist can be written. */
function isExpected({ req }: Context, tag: string | undefined): boolean {
  const match = req.header('if-match')
  if (match !== undefined) return match === `"${tag ?? ''}"`
  return tag === undefined
}

const CHANGED = failed(
  'invalid_args',
  'The draft was changed by another client. Both versions are in the details.',
  {},
  [{ action: 'Choose a version, and send it with the tag of the present one in If-Match.' }],
)

function bothVersions(
  context: Context<RequestVariables>,
  now: KeptValue<MessageDraft> | undefined,
  sent: MessageDraft | undefined,
): Response {
  const present = now === undefined ? null : { tag: now.tag, draft: now.value }
  const details = { present, sent: sent ?? null }
  const answer = failureAnswer(
    { ...CHANGED.error, details },
    { status: 412, type: 'DRAFT_CHANGED' },
  )
  return sendAnswer(context, answer)
}

function draftResponse(
  context: Context<RequestVariables>,
  kept: KeptValue<MessageDraft> | undefined,
): Response {
  if (kept !== undefined) context.header('etag', `"${kept.tag}"`)
  return context.json({ ok: true, draft: kept?.value ?? null })
}
