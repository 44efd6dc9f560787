import { mentionOf } from '../input/mentions.ts'
import type { Draft } from '../screen/draft.ts'

/** The word at the cursor that can be completed. */
export interface CompletedWord {
  readonly kind: 'path' | 'command' | 'skill' | 'argument'
  /** Whose argument it is, with everything before the word, such as `model` or `review --with`. */
  readonly command?: string
  /** What was typed after the sign. */
  readonly query: string
  /** Where the word begins, with its sign; it ends at the cursor. */
  readonly from: number
}

/** Only the end of a long draft is searched. */
const NEAR = 4_096

/** `@path`, `/command` with its arguments, and `$skill` at the cursor. Pure. */
export function completedWord({ text, cursor }: Draft): CompletedWord | undefined {
  const start = Math.max(0, cursor - NEAR)
  const before = text.slice(start, cursor)
  const command = start === 0 ? /^\/([a-z0-9-]*)$/.exec(before)?.[1] : undefined
  if (command !== undefined) return { kind: 'command', query: command, from: 0 }
  const quoted = /(?:^|[\s([{<,;:])@"([^"\n]*)$/u.exec(before)?.[1]
  if (quoted !== undefined)
    return { kind: 'path', query: quoted, from: cursor - quoted.length - '@"'.length }
  const path = /(?:^|[\s([{<"'“‘«,;:])@([^\s"]*)$/u.exec(before)?.[1]
  if (path !== undefined) return { kind: 'path', query: path, from: cursor - path.length - 1 }
  const [, owner, query] = (start === 0 ? ARGUMENT.exec(before) : undefined) ?? []
  if (owner !== undefined && query !== undefined) {
    const words = owner.trim().split(/\s+/).join(' ')
    return { kind: 'argument', command: words, query, from: cursor - query.length }
  }
  const skill = /(?:^|[\s([{<"'“‘«,;:])\$([^\s"@$]*)$/u.exec(before)?.[1]
  if (skill === undefined) return undefined
  return { kind: 'skill', query: skill, from: cursor - skill.length - 1 }
}

/** A command, words before the argument, and the argument itself. In a longer text, only an option has one. */
const ARGUMENT = /^\/([a-z][a-z0-9-]*\s+(?:[^\n]*\s--with\s+|\S+\s+|--with\s+)?)(\S*)$/su

/** What a word can be completed to. A handle completes a path. */
export interface Suggestion {
  readonly kind: CompletedWord['kind'] | 'handle' | 'outside'
  /** Without its sign. */
  readonly text: string
}

/** The draft with the word replaced by a suggestion. A folder can be continued; anything else ends with a space. */
export function withSuggestion(
  { text, cursor }: Draft,
  word: CompletedWord,
  chosen: Suggestion,
): Draft {
  const isPath = chosen.kind === 'path' || chosen.kind === 'outside'
  const isOpen = isPath && chosen.text.endsWith('/')
  const filled = `${wordOf(chosen)}${isOpen ? '' : ' '}`
  // A quoted folder is left open, so that its name can be continued.
  const inserted = isOpen && filled.endsWith('"') ? filled.slice(0, -1) : filled
  const rest = text.slice(cursor).replace(/^"? ?/, '')
  return {
    text: text.slice(0, word.from) + inserted + rest,
    cursor: word.from + inserted.length,
  }
}

function wordOf({ kind, text }: Suggestion): string {
  switch (kind) {
    case 'path':
      return mentionOf(text)
    case 'outside':
      return /[\s"]/.test(text) ? `@"${text}"` : `@${text}`
    case 'handle':
      return `@${text}`
    case 'command':
      return `/${text}`
    case 'skill':
      return `$${text}`
    case 'argument':
      return text
  }
}
