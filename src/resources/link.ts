import { shorten } from '../encoding/quote.ts'
import type { AttachmentInput } from '../model/attachment.ts'
import type { ResourceFacts } from '../model/descriptor.ts'
import { LIMITS } from '../model/limits.ts'
import { escapeUnseen, lastName } from './attachment-name.ts'
import { overLimit, refusal, type Refusal } from './refusal.ts'

export type LinkInput = Extract<AttachmentInput, { readonly from: 'link' }>

/** A classified link: a local file by its path, or a remote target that is described and never fetched. */
export type FoundLink =
  | { readonly path: string }
  | { readonly facts: Extract<ResourceFacts, { readonly kind: 'link' }> }
  | { readonly refusal: Refusal }

export function readLink(link: LinkInput): FoundLink {
  const { uri } = link
  if (CONTROL.test(uri) || DRIVE.test(uri) || !URL.canParse(uri))
    return refuseLink('it is not a valid link: it has no scheme or is malformed')
  const url = new URL(uri)
  if (url.protocol === 'data:')
    return refuseLink('data: links are not supported; attach the file instead')
  return url.protocol === 'file:' ? localFile(uri, url) : remote(link, url)
}

/** Display labels of a link besides its name. They decide nothing. */
export function labelsOf({ title, description }: Pick<LinkInput, 'title' | 'description'>) {
  return {
    ...(title === undefined || title === '' ? {} : { title: label(title, TITLE_BYTES) }),
    ...(description === undefined || description === ''
      ? {}
      : { description: label(description, LIMITS.descriptor_bytes) }),
  }
}

const CONTROL = /\p{Cc}/u
/** A letter and a colon: a Windows drive. */
const DRIVE = /^(file:\/*)?[a-z](:|%3a|\|)/i
const NAME_BYTES = 255
const TITLE_BYTES = 200
const MEDIA_TYPE_BYTES = 100

function localFile(uri: string, url: URL): FoundLink {
  // The URL parser has already removed `localhost`.
  if (url.host !== '') return refuseLink('it is a file: link to another machine')
  // Without a slash the path would be relative to an unknown folder.
  if (!/^\s*file:[/\\]/i.test(uri)) return refuseLink('it is a file: link without an absolute path')
  const path = decodePart(url.pathname)
  return path === undefined || /%2f/i.test(url.pathname)
    ? refuseLink('it is a malformed file: link')
    : { path }
}

function remote(link: LinkInput, url: URL): FoundLink {
  const scheme = url.protocol.slice(0, -1)
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  // In some schemes the rest is another link, with a user name and password that cannot be removed reliably, or a local path.
  if (/\/\/[^/]*@/.test(url.pathname)) return refuseLink('the link contains a user name')
  if (/^[^/]*\bfile:/i.test(url.pathname))
    return refuseLink('the link contains another link to a file')
  const uri = url.href
    .replace(/[?#]+$/, '')
    .replaceAll(/[\s\\]/g, (letter) => encodeURIComponent(letter))
  const limit = LIMITS.link_uri_bytes
  const actual = Buffer.byteLength(uri)
  if (actual > limit) {
    const reason = `the link is ${actual} bytes long, which exceeds the limit of ${limit}`
    return { refusal: overLimit('link_refused', reason, { limit, actual }) }
  }
  return {
    facts: {
      kind: 'link',
      name: nameOf(link, url),
      uri,
      source_uri_scheme: scheme,
      ...declaredOf(link),
      ...labelsOf(link),
    },
  }
}

function nameOf({ name = '' }: LinkInput, url: URL): string {
  const last = lastName(url.pathname)
  const found = [name, decodePart(last) ?? last, url.host, url.protocol].find((one) => one !== '')
  return label(found ?? '', NAME_BYTES)
}

/** What the client says about the target. Nothing was read. */
export function declaredOf({ declared_media_type: type, declared_size_bytes: size }: LinkInput) {
  return {
    ...(type === undefined ? {} : { declared_media_type: label(type, MEDIA_TYPE_BYTES) }),
    ...(size === undefined || !Number.isSafeInteger(size) || size < 0
      ? {}
      : { declared_size_bytes: size }),
  }
}

/** The name of a link, safe to show. */
export function linkLabel(name: string): string {
  return label(name, NAME_BYTES)
}

function label(text: string, bytes: number): string {
  return shorten(escapeUnseen(text.slice(0, bytes)), bytes)
}

function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function refuseLink(reason: string): FoundLink {
  return { refusal: refusal('link_refused', reason) }
}
