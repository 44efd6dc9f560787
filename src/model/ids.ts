import * as z from 'zod'

const ULID = '[0-7][0-9a-hjkmnp-tv-z]{25}'

function idSchema<P extends string>(prefix: P) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_${ULID}$`))
    .brand<P>()
}

/** Ids are lower-case ULIDs with a prefix. They are validated here before any of them touches a path. */
export const SessionId = idSchema('ses')
export const TurnId = idSchema('trn')
export const ResourceId = idSchema('res')
export const EventId = idSchema('evt')

export type SessionId = z.infer<typeof SessionId>
export type TurnId = z.infer<typeof TurnId>
export type ResourceId = z.infer<typeof ResourceId>
export type EventId = z.infer<typeof EventId>

/** Lower-case hex of a SHA-256. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Extension of a blob by its media type: the one table of what a blob store accepts. */
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

/** `{sha256}.{ext}`. No `m` flag: a key with a newline in it must not pass. */
export const BlobKey = z
  .string()
  .regex(/^[a-f0-9]{64}\.(png|jpg|gif|webp|pdf|txt|md|csv|json|bin)$/)
  .brand<'blob'>()
export type BlobKey = z.infer<typeof BlobKey>
