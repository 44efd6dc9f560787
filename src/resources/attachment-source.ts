import type { AttachmentInput } from '../model/attachment.ts'
import { lastName } from './attachment-name.ts'
import { labelsOf, readLink, type FoundLink } from './link.ts'
import { refusal, type Refusal } from './refusal.ts'

/** An attachment input, classified by its text alone: nothing has been opened. */
export interface ReadInput {
  /** As the client sent it. */
  readonly given: string
  /** Without a path; empty if there is none. */
  readonly name: string
  readonly is: InputTarget
}

export type InputTarget =
  | { readonly path: string; readonly labels: Labels }
  | { readonly bytes: Buffer; readonly labels: Labels }
  | Extract<FoundLink, { readonly facts: unknown }>
  | { readonly refusal: Refusal }

/** What a descriptor records about a link to a file. */
export type Labels = ReturnType<typeof labelsOf> & { readonly source_uri_scheme?: string }

/** Paths of callers with `workspaceFiles` belong to a workspace and may be relative. */
export function readInput(
  input: Exclude<AttachmentInput, { readonly from: 'blob' }>,
  confined: boolean,
): ReadInput {
  switch (input.from) {
    case 'path':
      return { ...readPath(input.path, confined), ...givenIn(input) }
    case 'bytes': {
      // Some programs send a whole path as the name, and Windows paths have backslashes.
      const name = lastName(input.name.replaceAll('\\', '/'))
      return { given: input.name, name, is: { bytes: input.bytes, labels: labelsOf(input) } }
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

function givenIn({ given }: { readonly given?: string }): Pick<ReadInput, 'given'> | undefined {
  return given === undefined ? undefined : { given }
}

function readPath(path: unknown, confined: boolean): ReadInput {
  if (typeof path !== 'string') {
    const refused = refusal('not_absolute', 'the path is not a string')
    return {
      given: `(${path === null ? 'null' : typeof path})`,
      name: '',
      is: { refusal: refused },
    }
  }
  const name = lastName(path)
  if (confined || path.startsWith('/')) return { given: path, name, is: { path, labels: {} } }
  return { given: path, name, is: { refusal: refusal('not_absolute', 'its path is not absolute') } }
}

/** The name of a refused link: the part after its last slash, unless that may contain data, a user name or a password. */
function linkName(found: FoundLink, uri: string): string {
  if ('facts' in found) return found.facts.name
  const last = lastName(uri.replace(/[?#][^]*/, '').replaceAll('\\', '/'))
  const isTelling = URL.canParse(uri) && !/^\s*data:/i.test(uri) && !/[@:]|%40/.test(last)
  return isTelling ? last : ''
}
