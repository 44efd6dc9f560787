import { createExport, type ExportFile } from '../../../host/files/export-file.ts'
import { SessionResources } from '../../../history/session-resources.ts'
import { ok, type Result } from '../../../model/errors.ts'
import type { Harness } from '../../../session/harness.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { LogEnd } from '../../../session/reading/read-log.ts'
import type { ExportFormat } from './export-format.ts'
import { htmlExport } from './html.ts'
import { jsonExport } from './json.ts'
import { markdownExport } from './markdown.ts'

/** The formats by name. */
export const FORMATS = {
  markdown: markdownExport,
  json: jsonExport,
  html: htmlExport,
} satisfies Readonly<Record<string, () => ExportFormat>>

/** A Session to export, and how. */
export interface ExportDocument {
  readonly harness: Pick<Harness, 'read'>
  readonly session: ListedSession
  readonly format: ExportFormat
  readonly version: string
}

/** Writes the document to a file that does not exist yet. If it cannot be written completely, there is no file. */
export async function writeExport(
  document: ExportDocument,
  path: string,
): Promise<Result<ExportResult & { readonly bytes: number }>> {
  const file = await createExport(path)
  if (!file.ok) return file
  const written = await fillFile(document, file.value)
  if (!written.ok) await file.value.discard()
  return written
}

async function fillFile(
  document: ExportDocument,
  file: ExportFile,
): Promise<Result<ExportResult & { readonly bytes: number }>> {
  const written = await exportPieces(document, async (text) => {
    const done = await file.write(text)
    return done.ok ? ok(true) : done
  })
  if (!written.ok) return written
  const bytes = await file.finish()
  return bytes.ok ? ok({ ...written.value, bytes: bytes.value }) : bytes
}

export interface ExportResult {
  readonly end: LogEnd
  readonly events: number
}

/** Passes the document to `write` in pieces, until it returns false. */
export async function exportPieces(
  { harness, session, format, version }: ExportDocument,
  write: (text: string) => Promise<Result<boolean>>,
): Promise<Result<ExportResult>> {
  let last = await write(format.begin({ session, version }))
  let events = 0
  const resources = new SessionResources()
  const end = await harness.read(session.id, {}, async (read) => {
    if (!last.ok || !last.value) return false
    events += 1
    if (read.event !== undefined) resources.add(read.event)
    last = await write(format.event(read, (id) => resources.byId(id)?.descriptor))
    return undefined
  })
  if (!last.ok) return last
  if (!end.ok) return end
  const closed = await write(format.end(end.value.damage))
  return closed.ok ? ok({ end: end.value, events }) : closed
}
