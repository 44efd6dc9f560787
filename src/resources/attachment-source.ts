import type { AttachmentInput } from '../model/attachment.ts'
import { lastName } from './attachment-name.ts'
import { labelsOf, readLink, type FoundLink } from './link.ts'
import { refusal, type Refusal } from './refusal.ts'

/** What somebody gave, by its words alone: nothing was opened. */
export interface Wanted {
  /** As it was given. */
  readonly given: string
  /** Without a path; empty when there is none. */
  readonly name: string
  readonly is: WantedThing
}

export type WantedThing =
  | { readonly path: string; readonly labels: Labels }
  | { readonly bytes: Buffer }
  | Extract<FoundLink, { readonly facts: unknown }>
  | { readonly refused: Refusal }

/** What a descriptor has of a link to a file. */
export type Labels = ReturnType<typeof labelsOf> & { readonly source_uri_scheme?: string }

/** `confined` callers give paths of a workspace, which need not be absolute. */
export function wantedBy(input: AttachmentInput, confined: boolean): Wanted {
  switch (input.from) {
    case 'path':
      return pathWanted(input.path, confined)
    case 'bytes': {
      // Some systems write a path in another way, and some programs give all of it.
      const name = lastName(input.name.replaceAll('\\', '/'))
      return { given: input.name, name, is: { bytes: input.bytes } }
    }
    case 'link': {
      const { uri } = input
      const found = readLink(input)
      if (!('path' in found)) return { given: uri, name: linkName(found, uri), is: found }
      const labels = { source_uri_scheme: 'file', ...labelsOf(input) }
      const { path } = found
      return { given: uri, name: lastName(path), is: { path, labels } }
    }
  }
}

function pathWanted(path: unknown, confined: boolean): Wanted {
  if (typeof path !== 'string') {
    const refused = refusal('not_absolute', 'what was given is not the path of a file')
    return { given: `(${path === null ? 'null' : typeof path})`, name: '', is: { refused } }
  }
  const name = lastName(path)
  if (confined || path.startsWith('/')) return { given: path, name, is: { path, labels: {} } }
  return { given: path, name, is: { refused: refusal('not_absolute', 'its path is not absolute') } }
}

/** Of a link that is refused, what stands after its last slash, unless that may have bytes, a name or a password in it. */
function linkName(found: FoundLink, uri: string): string {
  if ('facts' in found) return found.facts.name
  const last = lastName(uri.replace(/[?#][^]*/, '').replaceAll('\\', '/'))
  const isTelling = URL.canParse(uri) && !/^\s*data:/i.test(uri) && !/[@:]|%40/.test(last)
  return isTelling ? last : ''
}
