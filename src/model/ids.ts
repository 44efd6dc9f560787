import * as z from 'zod'

function idPattern(prefix: string): RegExp {
  return new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)
}

export const SESSION_ID = idPattern('ses')
export const TURN_ID = idPattern('trn')
export const EVENT_ID = idPattern('evt')
export const SHA_256 = /^[0-9a-f]{64}$/

/** Ids are lower-case ULIDs with a prefix. They are validated here before they are used in a path. */
export const SessionId = z.string().regex(SESSION_ID).brand<'ses'>()
export const TurnId = z.string().regex(TURN_ID).brand<'trn'>()
export const ResourceId = z.string().regex(idPattern('res')).brand<'res'>()
export const EventId = z.string().regex(EVENT_ID).brand<'evt'>()
export const InstanceId = z.string().regex(idPattern('ins')).brand<'ins'>()

export type SessionId = z.infer<typeof SessionId>
export type TurnId = z.infer<typeof TurnId>
export type ResourceId = z.infer<typeof ResourceId>
export type EventId = z.infer<typeof EventId>
export type InstanceId = z.infer<typeof InstanceId>

/** Lower-case hex of a SHA-256. */
export const Sha256 = z.string().regex(SHA_256)

/** The extension of a blob by media type: the only table of what a blob store accepts. */
export const BLOB_EXTENSIONS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'application/json': 'json',
  'application/octet-stream': 'bin',
} as const

export type BlobMediaType = keyof typeof BLOB_EXTENSIONS

export function isBlobMediaType(type: string): type is BlobMediaType {
  return Object.hasOwn(BLOB_EXTENSIONS, type)
}

/** `{sha256}.{ext}`. No `m` flag: a key that contains a newline must not match. */
export const BlobKey = z
  .string()
  .regex(/^[a-f0-9]{64}\.(png|jpg|gif|webp|pdf|txt|md|csv|json|bin)$/)
  .brand<'blob'>()
export type BlobKey = z.infer<typeof BlobKey>

/** The hash at the start of a blob key. */
export function blobSha256(key: BlobKey): string {
  return key.slice(0, key.indexOf('.'))
}

/** The media type for the extension of a key. */
export function blobMediaType(key: BlobKey): BlobMediaType {
  const extension = key.slice(key.lastIndexOf('.') + 1)
  return MEDIA_TYPES.get(extension) ?? 'application/octet-stream'
}

const MEDIA_TYPES: ReadonlyMap<string, BlobMediaType> = new Map(
  Object.keys(BLOB_EXTENSIONS)
    .filter(isBlobMediaType)
    .map((type) => [BLOB_EXTENSIONS[type], type]),
)
