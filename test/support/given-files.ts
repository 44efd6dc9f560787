import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AttachmentInput } from '../../src/model/attachment.ts'
import type { Session } from '../../src/session/live/session.ts'
import { drawing, png } from './drawing.ts'
import { sha256 } from './seeing-place.ts'
import { value } from './story.ts'
import { writtenPdf } from './written-pdf.ts'

/** A file that a person gives, and what to expect of it. */
export interface GivenFile {
  readonly input: AttachmentInput
  readonly path: string
  readonly bytes: Buffer
  readonly sha256: string
}

export async function givenFile(folder: string, name: string, bytes: Buffer): Promise<GivenFile> {
  const path = join(folder, name)
  await writeFile(path, bytes)
  return { input: { from: 'path', path }, path, bytes, sha256: sha256(bytes) }
}

/** A PNG drawn from a seed; two seeds give two pictures. */
export function picture(seed: number): Buffer {
  const { width, height, pixels } = drawing(seed)
  return png(width, height, pixels)
}

/** One of each kind that can be shown: `@img1`, `@pdf2` and `@txt3` of a new Session. */
export async function oneOfEach(folder: string): Promise<[GivenFile, GivenFile, GivenFile]> {
  return [
    await givenFile(folder, 'harbour.png', picture(7)),
    await givenFile(folder, 'tides.pdf', writtenPdf(['high water at noon', 'low water at six'])),
    await givenFile(folder, 'crew.txt', Buffer.from(`Jan\nPiet\nKlaas, the cook\n`)),
  ]
}

/** Says something and waits for the end of the Turn: its status, or the kind of its error. */
export async function say(
  session: Session,
  text: string,
  options: Parameters<Session['admit']>[1] = {},
): Promise<string> {
  const { ended } = value(await value(await session.admit(text, options)).done)
  return ended.error === undefined ? ended.status : ended.error.kind
}

/** What the model said last. */
export function lastAnswer(session: Session): string {
  return session.events.findLast((e) => e.type === 'assistant_message')?.data.text ?? ''
}
