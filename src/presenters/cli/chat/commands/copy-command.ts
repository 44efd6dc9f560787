import { countOf } from '../../../../encoding/amounts.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import type { WholeEvent } from '../../../../model/events/event.ts'
import { sentences } from '../../screen/rows.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** Terminals ignore a longer text. */
const MOST_TERMINAL_BYTES = 72 * 1024

const USAGE = 'Use /copy, /copy NUMBER, /copy code or /copy code NUMBER.'

/**
 * Copies the last answer, with a number the one that many answers back, or with `code` a code block of the last answer: through
 * the terminal, and with a program of this machine, because neither is everywhere.
 */
export async function copyCommand(
  { session, actions, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const [, code, digits] = /^(code)?\s*([1-9]\d{0,5})?$/.exec(argument) ?? [undefined, 'none']
  if (code === 'none') return failed('invalid_args', USAGE)
  const number = digits === undefined ? undefined : Number(digits)
  const answers = answersIn(session.events)
  const found =
    code === undefined ? answers.at(-(number ?? 1)) : blockOf(answers.at(-1) ?? '', number)
  if (found === undefined || found === '') return nothing(code !== undefined, answers.length)
  const program = await actions.copy?.(found)
  const isForTerminal = Buffer.byteLength(found) <= MOST_TERMINAL_BYTES
  if (program === undefined && !isForTerminal)
    return failed('too_large', 'The text is too long for the clipboard of the terminal.', {}, [
      { action: 'Export the Session instead.', command: '/export' },
    ])
  const ways = [...(isForTerminal ? ['the terminal'] : []), ...(program ? [program] : [])]
  const what = code === undefined ? 'answer' : 'code block'
  const text = `Copied the ${what}, ${countOf(found.length, 'character')}, through ${ways.join(' and ')}.`
  const rows = sentences(text, { columns, style: { dim: true } })
  return ok({ rows, ...(isForTerminal ? { copies: found } : {}) })
}

/** The last text of each Turn, the latest last. Pure. */
export function answersIn(events: readonly WholeEvent[]): string[] {
  const answers = new Map<string | undefined, string>()
  for (const { type, turn_id, data } of events)
    if (type === 'assistant_message' && data.text.trim() !== '') answers.set(turn_id, data.text)
  return [...answers.values()]
}

/** The code block with that number, from 1, or the last one. Pure. */
export function blockOf(answer: string, number: number | undefined): string | undefined {
  const blocks: string[] = []
  let open: { readonly fence: string; readonly lines: string[] } | undefined
  for (const line of answer.split('\n')) {
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (open === undefined) {
      if (fence !== undefined) open = { fence, lines: [] }
    } else if (fence?.startsWith(open.fence) === true && line.trim() === fence) {
      blocks.push(open.lines.join('\n'))
      open = undefined
    } else open.lines.push(line)
  }
  if (open !== undefined) blocks.push(open.lines.join('\n'))
  return number === undefined ? blocks.at(-1) : blocks[number - 1]
}

function nothing(isCode: boolean, answers: number): Result<never> {
  if (answers === 0) return failed('not_found', 'There is no answer to copy yet.')
  return failed(
    'not_found',
    isCode
      ? `The last answer has no such code block. ${USAGE}`
      : `This Session has ${countOf(answers, 'answer')} to copy. ${USAGE}`,
  )
}
