import type { Context } from 'hono'
import { SessionResources } from '../../history/session-resources.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { ResourceId, SessionId } from '../../model/ids.ts'
import type { Harness } from '../../session/harness.ts'
import type { Session } from '../../session/session.ts'
import { route } from './exchange/route.ts'
import { ResourceParam, ResourceQuery } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'
import { byteRange, disposition } from './translate.ts'
import { inHeld } from '../../session/workspace/open-workspaces.ts'

type StoredDescriptor = Exclude<Descriptor, { readonly kind: 'link' }>

interface StoredResource {
  readonly descriptor: StoredDescriptor
  readonly bytes: Buffer
  readonly type: string
  readonly etag: string
}

interface RequestedResource {
  readonly id: SessionId
  readonly resource: ResourceId
  /** The longest side of a thumbnail; absent for the original. */
  readonly size: number | undefined
}

/** Serves the bytes of Resources, as data that no browser runs. */
export const RESOURCE_ROUTES = [
  route('GET /api/harness/session/:id/resources/:resource', {
    summary: 'The bytes of a Resource, or a thumbnail of an image.',
    ids: ResourceParam,
    query: ResourceQuery,
    answer: 'bytes',
    handle: async ({ workspaces }: ServerParts, { context, ids, query: { size } }) => {
      const stored = await inHeld(workspaces.holdFor(ids.id), ({ workspace }) =>
        storedResource(workspace.harness, { ...ids, size }),
      )
      return stored.ok ? resourceResponse(context, stored.value) : stored
    },
  }),
]

/** Found only in the Log of this Session: an id of another Session or workspace does not exist here. */
async function storedResource(
  harness: Harness,
  { id, resource, size }: RequestedResource,
): Promise<Result<StoredResource>> {
  const resources = new SessionResources()
  const read = await harness.read(id, { types: ADDING }, ({ event }) => {
    if (event !== undefined) resources.add(event)
  })
  if (!read.ok) return read
  const descriptor = resources.byId(resource)?.descriptor
  if (descriptor === undefined) return failed('not_found', 'No such Resource in this Session.')
  if (descriptor.kind === 'link') {
    return failed('not_found', 'This Resource is a link. The content of its target is not stored.')
  }
  const session = await harness.open(id)
  if (!session.ok) return session
  try {
    if (size !== undefined) return await thumbnail(session.value, descriptor, size)
    const bytes = await session.value.resourceBytes(descriptor.handle)
    const { content_sha256: etag } = descriptor
    const type = contentType(descriptor)
    return bytes.ok ? ok({ descriptor, bytes: bytes.value, type, etag }) : bytes
  } finally {
    // Not `close`: as the last client, that would interrupt a Turn whose client has disconnected.
    await session.value.detach()
  }
}

/** Made again for each request: it is small, and nothing has to be kept or deleted. */
async function thumbnail(
  session: Session,
  descriptor: StoredDescriptor,
  size: number,
): Promise<Result<StoredResource>> {
  const made = await session.thumbnail(descriptor.handle, size)
  if (!made.ok) return made
  const { bytes, media_type: type } = made.value
  return ok({ descriptor, bytes, type, etag: `${descriptor.content_sha256}-${size}` })
}

const ADDING = ['user_message', 'resource_ingested'] as const

/** Content of strangers: nothing in it may run, load anything, or be treated as another type. */
function resourceResponse(
  context: Context,
  { descriptor, bytes, type, etag: tag }: StoredResource,
): Response {
  const etag = `"${tag}"`
  const isImage = descriptor.kind === 'image'
  const headers: Record<string, string> = {
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-disposition': disposition(isImage ? 'inline' : 'attachment', descriptor.name),
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'content-type': type,
    etag,
  }
  if (matches(context.req.header('if-none-match'), etag)) return context.body(null, 304, headers)
  const whole = context.req.header('if-range') ?? etag
  const range = whole === etag ? byteRange(context.req.header('range'), bytes.length) : 'all'
  if (range === 'all') return context.body(new Uint8Array(bytes), 200, headers)
  if (range === 'none') {
    return context.body(null, 416, { ...headers, 'content-range': `bytes */${bytes.length}` })
  }
  const { start, end } = range
  return context.body(new Uint8Array(bytes.subarray(start, end)), 206, {
    ...headers,
    'content-range': `bytes ${start}-${end - 1}/${bytes.length}`,
  })
}

/** Markdown and CSV are text to a browser; a type that was not examined is bytes. */
function contentType({ kind, media_type, charset = 'utf-8' }: StoredDescriptor): string {
  if (kind === 'file') return 'application/octet-stream'
  if (kind !== 'text') return media_type
  return `text/plain; charset=${/^[\w-]+$/.test(charset) ? charset : 'utf-8'}`
}

function matches(header: string | undefined, etag: string): boolean {
  const known = new Set((header ?? '').split(',').map((one) => one.trim().replace(/^W\//, '')))
  return known.has(etag) || known.has('*')
}
