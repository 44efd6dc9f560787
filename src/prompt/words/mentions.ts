import { quote } from '../../encoding/quote.ts'

// The texts about files and folders that a message names. Every sentence of this folder is part of the Prompt Contract:
// see `version.ts`.

interface MentionFacts {
  readonly path: string
  readonly kind: 'file' | 'folder'
  readonly bytes: number
  readonly from_line?: number | undefined
  readonly to_line?: number | undefined
  readonly lines?: number | undefined
  readonly size_bytes?: number | undefined
  readonly charset?: string | undefined
  readonly unsaved?: boolean | undefined
  readonly truncated?: boolean | undefined
}

/** Before the content of a mention. The byte count marks its end, whatever it contains. */
export function mention(facts: MentionFacts): string {
  const { path, kind, bytes, charset, unsaved } = facts
  const converted = charset === undefined ? '' : `, converted from ${charset}`
  const what = kind === 'folder' ? namesIn(facts) : linesIn(facts)
  const where = kind === 'folder' ? 'Names in the folder' : 'Content of the file'
  const size = bytes === 0 ? '' : `, ${bytes} bytes:`
  const source = unsaved === true ? 'with unsaved changes, read from the editor' : 'read from disk'
  return `[${where} ${quote(path)}, ${source} for this message${converted}, ${what}${size}]`
}

function linesIn({ from_line, to_line, lines, size_bytes, truncated }: MentionFacts): string {
  if (from_line === undefined || to_line === undefined) return 'empty'
  if (truncated !== true) return lines === 1 ? '1 line' : `${lines ?? to_line} lines`
  const whole = lines === undefined ? `of a file of ${size_bytes ?? 0} bytes` : `of ${lines}`
  return `only lines ${from_line} to ${to_line} ${whole}`
}

function namesIn({ lines = 0, to_line, truncated }: MentionFacts): string {
  if (truncated === true) return `only the first ${to_line ?? 0} of ${lines}`
  return lines === 0 ? 'empty' : `${lines} in all`
}

/** Mentions without content, each with the reason. */
export function notIncluded(
  errors: readonly { readonly path: string; readonly reason: string }[],
): string {
  return [
    'Named in this message, but not included:',
    ...errors.map(({ path, reason }) => `- ${quote(path)}: ${reason}`),
  ].join('\n')
}
