import { failed, type Failed } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import { limitedBody } from '../exchange/request-body.ts'
import { route } from '../exchange/route.ts'
import { ImageType } from './protocol.ts'
import { NO_PARAMETERS, type TetherParts } from './tether-parts.ts'

/** Images of the workspace of an Instance, for clients that cannot see it. */
export const BLOB_ROUTES = [
  route('POST /v1/instances/:id/blobs', {
    ...NO_PARAMETERS,
    summary: 'Stores an image in the workspace of the Instance.',
    bytes: true,
    answer: 'StoredImage',
    status: 201,
    handle: async ({ tether }: TetherParts, { context }) => {
      const type = ImageType.safeParse(context.req.header('content-type')?.toLowerCase())
      if (!type.success) return notAnImageType()
      const bytes = await limitedBody(context.req.raw, LIMITS.attachment_bytes)
      if (!bytes.ok) return bytes
      const image = { media_type: type.data, bytes: bytes.value }
      return tether.putImage(context.req.param('id'), image)
    },
  }),
  route('GET /v1/instances/:id/blobs/:key', {
    ...NO_PARAMETERS,
    summary: 'An image of the workspace of the Instance.',
    answer: 'bytes',
    handle: async ({ tether }: TetherParts, { context }) => {
      const { id, key } = context.req.param()
      const found = await tether.image(id, key)
      if (!found.ok) return found
      const { media_type, bytes } = found.value
      // Not to be kept: the same key leads nowhere after the Instance got another workspace.
      return context.body(new Uint8Array(bytes), 200, {
        'cache-control': 'no-store',
        'content-disposition': 'inline',
        'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
        'content-type': media_type,
      })
    },
  }),
]

function notAnImageType(): Failed {
  const known = ImageType.options.join(', ')
  return failed('unsupported_type', `The Content-Type of an image must be one of ${known}.`)
}
