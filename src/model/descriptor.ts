import * as z from 'zod'
import { ATTACHMENT_CODES } from './attachment.ts'
import { BlobKey, ResourceId, Sha256 } from './ids.ts'
import { LIMITS } from './limits.ts'
import { Count, openObject, utf8Bytes, type Frozen } from './shape.ts'

export const HANDLE_PREFIXES = {
  image: 'img',
  pdf: 'pdf',
  text: 'txt',
  link: 'link',
  file: 'file',
} as const

export type ResourceKind = keyof typeof HANDLE_PREFIXES

export const Handle = z
  .string()
  .regex(new RegExp(`^@(${Object.values(HANDLE_PREFIXES).join('|')})[1-9][0-9]{0,8}$`))
  .brand<'handle'>()
export type Handle = z.infer<typeof Handle>

export const RESOURCE_SOURCES = [
  'cli',
  'acp',
  'http',
  'web',
  'mcp',
  'tether',
  'telegram',
  'tool',
  'hydration',
] as const

/** Bytes and local paths must not enter the Log; a descriptor with one is refused. */
const NEVER = ['data', 'base64', 'path', 'source_path']

/** Nothing was fetched, so a link must not claim facts about its target's bytes. */
const NEVER_OF_A_LINK = [...NEVER, 'media_type', 'size_bytes', 'content_sha256', 'blob']

const common = {
  resource_id: ResourceId,
  handle: Handle,
  name: z.string(),
  source: z.enum(RESOURCE_SOURCES),
  source_uri_scheme: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
}

const StoredDescriptor = openObject(() => ({
  ...common,
  kind: z.enum(['image', 'pdf', 'text', 'file']),
  media_type: z.string(),
  size_bytes: Count,
  content_sha256: Sha256,
  blob: BlobKey,
  width: Count.optional(),
  height: Count.optional(),
  pages: Count.optional(),
  lines: Count.optional(),
  charset: z.string().optional(),
  rehydratable: z.boolean(),
})).refine((descriptor) => hasNone(descriptor, NEVER))

const LinkDescriptor = openObject(() => ({
  ...common,
  kind: z.literal('link'),
  uri: z.string().refine(isPlainUri).optional(),
  /** Why a link to a local file was not copied. Such a link has no `uri`, because a local path must not enter the Log. */
  not_copied: z.enum(ATTACHMENT_CODES).optional(),
  declared_media_type: z.string().optional(),
  declared_size_bytes: Count.optional(),
  rehydratable: z.literal(false),
}))
  .refine((descriptor) => hasNone(descriptor, NEVER_OF_A_LINK))
  .refine(({ uri, not_copied }) => (uri === undefined) !== (not_copied === undefined))

/** The record of a Session Resource that the Log and later Turns carry instead of its bytes. */
export const Descriptor = z.discriminatedUnion('kind', [StoredDescriptor, LinkDescriptor])
export type Descriptor = Frozen<z.infer<typeof Descriptor>>

/** The facts of an attachment before a Session gives it a handle. */
export type ResourceFacts = WithoutName<Descriptor>

type WithoutName<D> = D extends Descriptor
  ? Omit<D, 'resource_id' | 'handle' | 'source' | 'rehydratable'>
  : never

function hasNone(descriptor: object, fields: readonly string[]): boolean {
  return !fields.some((field) => Object.hasOwn(descriptor, field))
}

/** Neither bytes (`data:`) nor a local path (`file:`, or a drive letter that parses as a scheme). */
const NO_LINK = /^(data|file|[a-z]):/i

/** No userinfo, query or fragment, not even an empty one. */
function isPlainUri(uri: string): boolean {
  if (utf8Bytes(uri) > LIMITS.link_uri_bytes || /[?#\\\s\p{Cc}]/u.test(uri)) return false
  if (NO_LINK.test(uri) || !URL.canParse(uri)) return false
  const { username, password } = new URL(uri)
  return username === '' && password === ''
}
