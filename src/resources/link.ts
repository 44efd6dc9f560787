import { shortened } from '../encoding/quote.ts'
import type { AttachmentInput } from '../model/attachment.ts'
import type { ResourceFacts } from '../model/descriptor.ts'
import { LIMITS } from '../model/limits.ts'
import { escaped, lastName } from './attachment-name.ts'
import { overLimit, refusal, type Refusal } from './refusal.ts'

export type LinkInput = Extract<AttachmentInput, { readonly from: 'link' }>

/** What a link is found to be: a file of this machine, by its path, or something that is described and never fetched. */
export type FoundLink =
  | { readonly path: string }
  | { readonly facts: Extract<ResourceFacts, { readonly kind: 'link' }> }
  | { readonly refused: Refusal }

export function readLink(link: LinkInput): FoundLink {
  const { uri } = link
  if (CONTROL.test(uri) || DRIVE.test(uri) || !URL.canParse(uri))
    return refused('it is no link: it has no scheme, or is not well formed')
  const url = new URL(uri)
  if (url.protocol === 'data:')
    return refused('it is a data: link, which is not taken; give the file')
  return url.protocol === 'file:' ? localFile(uri, url) : remote(link, url)
}

/** What a person is shown of a link besides its name. It decides nothing. */
export function labelsOf({ title, description }: LinkInput) {
  return {
    ...(title === undefined || title === '' ? {} : { title: label(title, TITLE_BYTES) }),
    ...(description === undefined || description === ''
      ? {}
      : { description: label(description, LIMITS.descriptor_bytes) }),
  }
}

const CONTROL = /\p{Cc}/u
/** A letter and a colon: a path of another system. */
const DRIVE = /^(file:\/*)?[a-z](:|%3a|\|)/i
const NAME_BYTES = 255
const TITLE_BYTES = 200
const MEDIA_TYPE_BYTES = 100

function localFile(uri: string, url: URL): FoundLink {
  // `localhost` is the same as no host, and is gone here.
  if (url.host !== '') return refused('it is a file: link to another machine')
  // Without a slash it would be relative, and nobody knows to what.
  if (!/^\s*file:[/\\]/i.test(uri)) return refused('it is a file: link without an absolute path')
  const path = decoded(url.pathname)
  return path === undefined || /%2f/i.test(url.pathname)
    ? refused('it is a file: link that is not well formed')
    : { path }
}

function remote(link: LinkInput, url: URL): FoundLink {
  const scheme = url.protocol.slice(0, -1)
  url.username = ''
  url.password = ''
  url.search = ''
  url.hash = ''
  // In some schemes the rest is a link of its own, with a name and a password that nobody can take out here, or a local path.
  if (/\/\/[^/]*@/.test(url.pathname)) return refused('it is a link with a user name in it')
  if (/^[^/]*\bfile:/i.test(url.pathname))
    return refused('it is a link to a file inside another link')
  const uri = url.href
    .replace(/[?#]+$/, '')
    .replaceAll(/[\s\\]/g, (letter) => encodeURIComponent(letter))
  const limit = LIMITS.link_uri_bytes
  const actual = Buffer.byteLength(uri)
  if (actual > limit) {
    const reason = `it is a link of ${actual} bytes, over the limit of ${limit}`
    return { refused: overLimit('link_refused', reason, { limit, actual }) }
  }
  return {
    facts: {
      kind: 'link',
      name: nameOf(link, url),
      uri,
      source_uri_scheme: scheme,
      ...declared(link),
      ...labelsOf(link),
    },
  }
}

function nameOf({ name = '' }: LinkInput, url: URL): string {
  const last = lastName(url.pathname)
  const found = [name, decoded(last) ?? last, url.host, url.protocol].find((one) => one !== '')
  return label(found ?? '', NAME_BYTES)
}

function declared({ declared_media_type: type, declared_size_bytes: size }: LinkInput) {
  return {
    ...(type === undefined ? {} : { declared_media_type: label(type, MEDIA_TYPE_BYTES) }),
    ...(size === undefined || !Number.isSafeInteger(size) || size < 0
      ? {}
      : { declared_size_bytes: size }),
  }
}

function label(text: string, bytes: number): string {
  return shortened(escaped(text.slice(0, bytes)), bytes)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function refused(reason: string): FoundLink {
  return { refused: refusal('link_refused', reason) }
}
