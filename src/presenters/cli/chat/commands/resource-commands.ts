import { failed, ok, type Result } from '../../../../model/errors.ts'
import { lineWidth } from '../../text/cell-width.ts'
import { resourceTable } from '../../render/resource-table.ts'
import { resourceWords } from '../../text/resource-words.ts'
import type { CommandResult, CommandContext } from './command-context.ts'
import { sentences } from '../../screen/rows.ts'

/**
 * Checks a file, URL or the clipboard and attaches it to the next message; without an argument, lists the attachments.
 */
export async function attach(
  context: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const { actions, attachments, columns } = context
  if (argument === '') return ok({ rows: sentences(waitingWords(context), { columns }) })
  const checked = await actions.attach?.(unquote(argument))
  if (checked === undefined) return ok({ rows: [] })
  if (!checked.ok) return checked
  attachments.add(checked.value)
  const text = `Attached to your next message: ${checked.value.words}`
  return ok({ rows: sentences(text, { columns, style: { dim: true } }) })
}

export async function detach(
  context: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const { attachments, columns } = context
  const only = attachments.waiting.length === 1 && argument === ''
  const removed = attachments.remove(only ? 1 : Number(argument))
  if (removed === undefined) {
    return failed('invalid_args', `Expected the number of an attachment. ${waitingWords(context)}`)
  }
  const text = `Removed from your next message: ${removed.words}`
  return ok({ rows: sentences(text, { columns, style: { dim: true } }) })
}

/** In columns if they fit, otherwise one line each. */
export async function resources(
  { session, columns }: CommandContext,
  argument = '',
): Promise<Result<CommandResult>> {
  const handle = /^drop\s+(@?\S+)$/.exec(argument)?.[1]
  if (handle !== undefined) {
    const dropped = await session.dropResource(handle.startsWith('@') ? handle : `@${handle}`)
    return dropped.ok ? ok({ rows: [] }) : dropped
  }
  if (argument !== '') return failed('invalid_args', 'Use /resources, or /resources drop @HANDLE.')
  const listed = await session.resources()
  if (!listed.ok) return listed
  if (listed.value.length === 0) {
    return ok({ rows: sentences('This Session has no Resources yet.', { columns }) })
  }
  const table = resourceTable(listed.value)
  if (table.every((line) => lineWidth(line) <= columns)) return ok({ rows: [[], ...table] })
  const lines = listed.value.flatMap(({ descriptor, state, payload }) => {
    const notes = [...(state === 'live' ? [] : [state]), ...(BAD.has(payload) ? [payload] : [])]
    return sentences([resourceWords(descriptor), ...notes].join(' · '), { columns })
  })
  return ok({ rows: [[], ...lines] })
}

const BAD: ReadonlySet<string> = new Set(['missing', 'damaged'])

function waitingWords({ attachments: { waiting } }: CommandContext): string {
  if (waiting.length === 0)
    return 'Nothing is attached. To attach something: /attach FILE, URL or clipboard.'
  return waiting.map(({ words }, at) => `[${at + 1}] ${words}`).join(', ')
}

/** Decodes a path as terminals insert it when a file is dropped on them: in quotes, or with spaces escaped. */
function unquote(argument: string): string {
  const inQuotes = /^(["'])(.*)\1$/s.exec(argument)?.[2]
  return inQuotes ?? argument.replaceAll(/\\([ ()[\]&'"])/g, '$1')
}
