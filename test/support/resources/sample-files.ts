import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AttachmentInput } from '../../../src/model/attachment.ts'
import type { Session } from '../../../src/session/session.ts'
import { picture } from './drawing.ts'
import { sha256 } from './vision-place.ts'
import { value } from '../log/story.ts'
import { buildPdf } from './build-pdf.ts'

/** A file to attach, with its content and hash to compare with. */
export interface SampleFile {
  readonly input: AttachmentInput
  readonly path: string
  readonly bytes: Buffer
  readonly sha256: string
}

export async function sampleFile(folder: string, name: string, bytes: Buffer): Promise<SampleFile> {
  const path = join(folder, name)
  await writeFile(path, bytes)
  return { input: { from: 'path', path }, path, bytes, sha256: sha256(bytes) }
}

export { picture } from './drawing.ts'

/** One file of each kind that can be shown: `@img1`, `@pdf2` and `@txt3` in a new Session. */
export async function oneOfEach(folder: string): Promise<[SampleFile, SampleFile, SampleFile]> {
  return [
    await sampleFile(folder, 'harbour.png', picture(7)),
    await sampleFile(folder, 'tides.pdf', buildPdf(['high water at noon', 'low water at six'])),
    await sampleFile(folder, 'crew.txt', Buffer.from(`Jan\nPiet\nKlaas, the cook\n`)),
  ]
}

/** Sends a message and waits for the end of the Turn; returns its status, or the kind of its error. */
export async function say(
  session: Session,
  text: string,
  options: Parameters<Session['admit']>[1] = {},
): Promise<string> {
  const ended = value(await value(await session.admit(text, options)).done)
  return ended.error === undefined ? ended.status : ended.error.kind
}

/** The text of the last answer. */
export function lastAnswer(session: Session): string {
  return session.events.findLast((e) => e.type === 'assistant_message')?.data.text ?? ''
}
