import { splitCommand, type Word } from './command-line.ts'
import { readsWithGit } from './read-only-git.ts'
import { onlyReads, readingProgram } from './reading-programs.ts'
import { isWrapper, startedBy } from './wrappers.ts'

/**
 * Whether a shell command appears to only read. Used only to decide whether to ask: a mistake does no harm, because such a
 * command runs with everything read-only.
 */
export function looksReadOnly(command: string): boolean {
  // One pipeline: a list of commands asks, whatever they are.
  if (/[;&\n\r]/.test(command)) return false
  const parts = splitCommand(command)
  return (
    parts !== undefined &&
    parts.every(({ words, assigns, redirects }) => !assigns && !redirects && reads(words))
  )
}

function reads(words: readonly Word[]): boolean {
  const [first, ...args] = words
  if (first?.isFixed !== true) return false
  if (isWrapper(first.text)) return wrapperReads(words)
  if (first.text === 'git') return readsWithGit(args)
  const program = readingProgram(first.text)
  return program !== undefined && onlyReads(program, args)
}

/** A wrapper does what it starts. A variable can make a program start another, or replace it. */
function wrapperReads(words: readonly Word[]): boolean {
  const started = startedBy(words)
  if (started === undefined) return false
  if (started.words.length === 0) return true
  return started.sets.every((name) => HARMLESS_VARIABLE.test(name)) && reads(started.words)
}

/** Language, time zone and appearance of the output; empty for the old form `env -`. */
const HARMLESS_VARIABLE =
  /^(?:|LANG|LANGUAGE|LC_[A-Z]+|TZ|COLUMNS|LINES|TERM|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?)$/
