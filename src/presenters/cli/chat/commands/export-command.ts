import { countOf } from '../../../../encoding/amounts.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { sentences } from '../../screen/rows.ts'
import { inChat } from '../../text/chat-forms.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CommandContext, CommandResult, ExportName } from './command-context.ts'

/** The formats, and the ends of their file names. */
const FORMATS: Readonly<Record<string, ExportName>> = {
  md: 'markdown',
  markdown: 'markdown',
  html: 'html',
  json: 'json',
}
const ENDS: Readonly<Record<ExportName, string>> = { markdown: 'md', html: 'html', json: 'json' }
const ID_LETTERS = 6

/**
 * Writes this Session to a file, as Markdown unless a format is named or the path ends like one. A file that exists is never
 * replaced.
 */
export async function exportCommand(
  { session, actions, columns, progress }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const { format, path } = exportOrder(argument, session.id)
  progress(`Writing ${path} …`)
  const written = await actions.export?.(session.id, format, path)
  if (written === undefined) return ok({ rows: [] })
  if (!written.ok) {
    if (written.error.kind !== 'invalid_args') return written
    const { message, details } = written.error
    const action = `Name another file: /export ${ENDS[format]} PATH`
    return failed('invalid_args', `${path}: ${message}`, details, [{ action }])
  }
  const { path: whole, events, bytes, damage } = written.value
  const text = `Wrote ${visibleLine(whole)}: ${countOf(events, 'Event')}, ${countOf(bytes, 'byte')}.`
  const cut = damage === undefined ? [] : sentences(inChat(damage.message), { columns })
  return ok({ rows: [...sentences(text, { columns }), ...cut] })
}

/** Pure. */
export function exportOrder(
  argument: string,
  id: string,
): { readonly format: ExportName; readonly path: string } {
  const [, first = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(argument.trim()) ?? []
  const named = Object.hasOwn(FORMATS, first) ? FORMATS[first] : undefined
  const path = (named === undefined ? argument.trim() : rest.trim()).replace(
    /^(["'])(.*)\1$/s,
    '$2',
  )
  const end = path.slice(path.lastIndexOf('.') + 1)
  const format = named ?? (Object.hasOwn(FORMATS, end) ? FORMATS[end] : undefined) ?? 'markdown'
  return { format, path: path === '' ? `session-${id.slice(-ID_LETTERS)}.${ENDS[format]}` : path }
}
