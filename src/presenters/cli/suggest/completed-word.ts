import type { Draft } from '../screen/draft.ts'

/** The word at the cursor that can be completed. */
export interface CompletedWord {
  readonly kind: 'path' | 'command' | 'skill' | 'session'
  /** What was typed after the sign. */
  readonly query: string
  /** Where the word begins, with its sign; it ends at the cursor. */
  readonly from: number
}

/** Only the end of a long draft is searched. */
const NEAR = 4_096

/** `@path`, `/command` and `$skill` at the cursor, and the argument of `/sessions`. Pure. */
export function completedWord({ text, cursor }: Draft): CompletedWord | undefined {
  const start = Math.max(0, cursor - NEAR)
  const before = text.slice(start, cursor)
  const session = start === 0 ? /^\/sessions\s+(\S*)$/.exec(before)?.[1] : undefined
  if (session !== undefined)
    return { kind: 'session', query: session, from: cursor - session.length }
  const command = start === 0 ? /^\/([a-z0-9-]*)$/.exec(before)?.[1] : undefined
  if (command !== undefined) return { kind: 'command', query: command, from: 0 }
  const quoted = /(?:^|[\s([{<,;:])@"([^"\n]*)$/u.exec(before)?.[1]
  if (quoted !== undefined)
    return { kind: 'path', query: quoted, from: cursor - quoted.length - '@"'.length }
  const found = /(?:^|[\s([{<"'“‘«,;:])([@$])([^\s"@$]*)$/u.exec(before)
  if (found === null) return undefined
  const [, sign, query = ''] = found
  return { kind: sign === '@' ? 'path' : 'skill', query, from: cursor - query.length - 1 }
}

/** The draft with the word replaced by a suggestion. A folder can be continued; anything else ends with a space. */
export function withSuggestion(
  { text, cursor }: Draft,
  word: CompletedWord,
  chosen: string,
): Draft {
  const isOpen = word.kind === 'path' && chosen.endsWith('/')
  const filled = `${wordOf(word.kind, chosen)}${isOpen ? '' : ' '}`
  // A quoted folder is left open, so that its name can be continued.
  const inserted = isOpen && filled.endsWith('"') ? filled.slice(0, -1) : filled
  const rest = text.slice(cursor).replace(/^"? ?/, '')
  return {
    text: text.slice(0, word.from) + inserted + rest,
    cursor: word.from + inserted.length,
  }
}

function wordOf(kind: CompletedWord['kind'], chosen: string): string {
  switch (kind) {
    case 'path':
      return /\s/.test(chosen) ? `@"${chosen}"` : `@${chosen}`
    case 'command':
      return `/${chosen}`
    case 'skill':
      return `$${chosen}`
    case 'session':
      return chosen
  }
}
