import { extname } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../../model/limits.ts'
import { checkInputs } from '../../session/admission/attachments.ts'
import { route } from './exchange/route.ts'
import { CheckAttachments, UploadQuery } from './protocol.ts'
import { piecesOf } from './exchange/request-body.ts'
import type { ServerParts } from './server-parts.ts'

/** Stages uploads, and judges whether files would be accepted. The resolver decides, never what a client claims. */
export const ATTACHMENT_ROUTES = [
  route('PUT /api/harness/attachments', {
    summary: 'Stages an upload.',
    query: UploadQuery,
    bytes: true,
    answer: 'Upload',
    status: 201,
    handle: async ({ stagedFiles, clock, redactor }: ServerParts, { context, query }) => {
      // The name becomes that of a file, and models see it.
      const name = redactor.text(query.name)
      const added = await upload(stagedFiles, name, context.req.raw)
      if (!added.ok) return added
      const { path, size: sizeBytes } = added.value
      const verdicts = await checkInputs(clock, [{ from: 'path', path }])
      if (!verdicts.ok) return verdicts
      const [verdict] = verdicts.value
      const mediaType = verdict?.accepted === true ? mediaTypeOf(name) : UNKNOWN_TYPE
      return ok({ path, name, sizeBytes, mediaType, verdict })
    },
  }),
  route('POST /api/harness/attachments/check', {
    summary: 'Whether files would be accepted.',
    body: CheckAttachments,
    answer: 'Verdicts',
    handle: async ({ clock }: ServerParts, { body: { paths } }) => {
      const inputs = paths.map((path) => ({ from: 'path', path }) as const)
      const verdicts = await checkInputs(clock, inputs)
      if (!verdicts.ok) return verdicts
      return ok({
        verdicts: verdicts.value.map((verdict, at) => ({ path: paths[at], ...verdict })),
      })
    },
  }),
]

/** A client that disconnects leaves nothing behind. */
async function upload(
  staged: ServerParts['stagedFiles'],
  name: string,
  { headers, body, signal }: Request,
): Promise<Awaited<ReturnType<ServerParts['stagedFiles']['add']>>> {
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
