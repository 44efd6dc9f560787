import { extname } from 'node:path'
import { Hono } from 'hono'
import { failed, ok, type Result } from '../../model/errors.ts'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../../model/limits.ts'
import { checkInputs } from '../../session/admission/attachments.ts'
import { answerFailure, answerResult, type RequestVariables } from './exchange/answer.ts'
import { CheckAttachments, UploadQuery } from './protocol.ts'
import { checkValue, jsonBody, piecesOf } from './exchange/request-body.ts'
import type { ServerParts } from './server-parts.ts'

/** Stages uploads, and tells whether files would be accepted. The resolver decides, never what a client claims. */
export function attachmentRoutes({
  staged,
  clock,
  redactor,
}: Pick<ServerParts, 'staged' | 'clock' | 'redactor'>): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  routes.put('/attachments', async (context) => {
    const query = checkValue(UploadQuery, context.req.query())
    if (!query.ok) return answerFailure(context, query.error)
    // The name becomes that of a file, and models see it.
    const name = redactor.text(query.value.name)
    const added = await upload(staged, name, context.req.raw)
    if (!added.ok) return answerFailure(context, added.error)
    const { path, size: sizeBytes } = added.value
    const verdicts = await checkInputs(clock, [{ from: 'path', path }])
    if (!verdicts.ok) return answerFailure(context, verdicts.error)
    const [verdict] = verdicts.value
    const mediaType = verdict?.accepted === true ? mediaTypeOf(name) : UNKNOWN_TYPE
    return answerResult(context, ok({ path, name, sizeBytes, mediaType, verdict }), 201)
  })
  routes.post('/attachments/check', async (context) => {
    const body = await jsonBody(context.req.raw, CheckAttachments)
    if (!body.ok) return answerFailure(context, body.error)
    const { paths } = body.value
    const verdicts = await checkInputs(
      clock,
      paths.map((path) => ({ from: 'path', path })),
    )
    if (!verdicts.ok) return answerFailure(context, verdicts.error)
    const named = verdicts.value.map((verdict, at) => ({ path: paths[at], ...verdict }))
    return answerResult(context, ok({ verdicts: named }))
  })
  return routes
}

/** A client that disconnects leaves nothing behind. */
async function upload(
  staged: ServerParts['staged'],
  name: string,
  { headers, body, signal }: Request,
): Promise<Awaited<ReturnType<ServerParts['staged']['add']>>> {
  const limit = LIMITS.attachment_bytes
  if (Number(headers.get('content-length') ?? 0) > limit) return tooLarge(limit)
  try {
    return await staged.add(name, piecesOf(body), limit)
  } catch (error) {
    if (signal.aborted) return failed('interrupted', 'The upload was interrupted.')
    throw error
  }
}

const UNKNOWN_TYPE = 'application/octet-stream'

/** Of an accepted file, whose bytes match its extension. */
function mediaTypeOf(name: string): string {
  const extension = extname(name).toLowerCase()
  const found = Object.entries(ATTACHMENT_EXTENSIONS).find(([known]) => known === extension)
  return found?.[1].media_type ?? UNKNOWN_TYPE
}

function tooLarge(limit: number): Result<never> {
  return failed('too_large', `The upload exceeds ${limit} bytes.`, { limit })
}
