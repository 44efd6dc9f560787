import { Hono } from 'hono'
import { failed, type Failed } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import { answerFailure, type RequestVariables } from '../exchange/answer.ts'
import { limitedBody } from '../exchange/request-body.ts'
import { ImageType, NoQuery } from './protocol.ts'
import { answerTether, queryOf, type TetherParts } from './tether-parts.ts'

/** Images of the workspace of an Instance, for clients that cannot see it. */
export function blobRoutes({ tether }: TetherParts): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  routes.post('/instances/:id/blobs', async (context) => {
    const query = queryOf(context, NoQuery)
    if (!query.ok) return answerFailure(context, query.error)
    const type = ImageType.safeParse(context.req.header('content-type')?.toLowerCase())
    if (!type.success) return answerFailure(context, notAnImageType().error)
    const bytes = await limitedBody(context.req.raw, LIMITS.attachment_bytes)
    if (!bytes.ok) return answerFailure(context, bytes.error)
    const image = { media_type: type.data, bytes: bytes.value }
    return answerTether(context, await tether.putImage(context.req.param('id'), image), 201)
  })
  routes.get('/instances/:id/blobs/:key', async (context) => {
    const query = queryOf(context, NoQuery)
    if (!query.ok) return answerFailure(context, query.error)
    const { id, key } = context.req.param()
    const found = await tether.image(id, key)
    if (!found.ok) return answerFailure(context, found.error)
    const { media_type, bytes } = found.value
    // Not to be kept: the same key leads nowhere after the Instance got another workspace.
    return context.body(new Uint8Array(bytes), 200, {
      'cache-control': 'no-store',
      'content-disposition': 'inline',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'content-type': media_type,
    })
  })
  return routes
}

function notAnImageType(): Failed {
  const known = ImageType.options.join(', ')
  return failed('unsupported_type', `The Content-Type of an image must be one of ${known}.`)
}
