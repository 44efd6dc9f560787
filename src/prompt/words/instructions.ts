import { quote } from '../../encoding/quote.ts'

// The texts about project instructions that a model reads. Every sentence of this folder is part of the Prompt Contract: see
// `version.ts`.

/** The path of the person's own instructions for the tool `read`. Events have `~` instead. */
export const OWN_PATH = '$HAWSER_HOME/AGENTS.md'

interface NamedFacts {
  readonly path: string
  readonly bytes?: number | undefined
  readonly content_sha256?: string | undefined
  readonly refused?: 'link' | 'hard_link' | 'not_a_file' | 'unreadable' | undefined
  readonly changed?: boolean | undefined
  readonly blob?: string | undefined
  readonly truncated?: boolean | undefined
  readonly withheld?: 'untrusted' | 'over_limit' | 'too_large' | 'not_text' | undefined
}

/** The lines of late context about project instructions; none without a list. */
export function namedInstructions(
  named: readonly NamedFacts[] | undefined,
  more: boolean | undefined,
): string[] {
  if (named === undefined) return []
  if (named.length === 0) return ['project instructions: none apply any more']
  return [
    'project instructions that apply, a nearer one after those above it:',
    ...named.map((one) => `- ${nameOf(one)}: ${stateOf(one)}`),
    ...(more === true
      ? ['- more than are listed here; look for them in the folders you work in']
      : []),
  ]
}

function nameOf({ path }: Pick<NamedFacts, 'path'>): string {
  return path === '~' ? `${quote(OWN_PATH)} (the person's own)` : quote(path)
}

function stateOf({ bytes, content_sha256, refused, changed, ...text }: NamedFacts): string {
  if (refused !== undefined) return `cannot be read, because it ${REFUSED[refused]}`
  return [
    `${bytes ?? 0} bytes`,
    ...(content_sha256 === undefined ? [] : [`sha256 ${content_sha256.slice(0, 12)}`]),
    ...(changed === true ? ['changed'] : []),
    ...textState(text),
  ].join(', ')
}

const REFUSED = {
  link: 'is a symbolic link',
  hard_link: 'has a second hard link',
  not_a_file: 'is not a regular file',
  unreadable: 'cannot be opened',
}

function textState({
  blob,
  truncated,
  withheld,
}: Pick<NamedFacts, 'blob' | 'truncated' | 'withheld'>): string[] {
  if (withheld !== undefined) return [`text not included, because ${WITHHELD[withheld]}`]
  if (blob === undefined) return []
  return [truncated === true ? 'only the beginning of its text included' : 'text included']
}

const WITHHELD = {
  untrusted: 'the person has not trusted this content',
  over_limit: 'the texts of all files are too long together',
  too_large: 'the file is too large',
  not_text: 'it is not text',
}

interface TextFacts {
  readonly path: string
  readonly bytes?: number | undefined
  readonly text_bytes?: number | undefined
  readonly truncated?: boolean | undefined
}

/** Before the text of a file. The byte count marks its end, even if the text contains a line like the one after it. */
export function instructionsStart({ path, text_bytes = 0 }: TextFacts): string {
  return `[Project instructions ${nameOf({ path })}, ${text_bytes} bytes, in place of any earlier text of this file:]`
}

/** Before text that the person added to the Session. */
export function appendedStart({ text_bytes = 0 }: Pick<TextFacts, 'text_bytes'>): string {
  return `[Instructions that the person added for this Session, ${text_bytes} bytes:]`
}

export const APPENDED_END = '[End of these instructions]'

export function instructionsEnd({ path, bytes = 0, truncated }: TextFacts): string {
  const rest =
    truncated === true ? `, cut here; the file has ${bytes} bytes, and read returns the rest` : ''
  return `[End of project instructions ${nameOf({ path })}${rest}]`
}
