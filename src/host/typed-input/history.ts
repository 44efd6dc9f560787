import * as z from 'zod'
import {
  closing,
  ifThere,
  readSpan,
  replaceFile,
  writeAll,
  type File,
  type Folder,
} from '../files/files.ts'
import { jsonOf } from '../files/json-file.ts'
import { underShortLock } from '../short-lock.ts'
import { ifFolder, inFolder, type InputPlace } from './place.ts'

/** What a person sent in all Sessions of a workspace. It may be incomplete; the Logs are the truth. */
export interface InputHistory {
  /** Each text once, the latest last. Reads at most a megabyte, and no Log. */
  read(): Promise<readonly string[]>
  /** Stores a text durably; a text that is too long is not stored. The caller removes keys from it. */
  add(text: string): Promise<void>
}

const NAME = 'history.ndjson'
const MOST_TEXTS = 1_000
const MOST_BYTES = 1024 * 1024
/** A text from which a line of the file must not grow too long. */
const LONGEST_TEXT = 16 * 1024
const NEW_LINE = 0x0a

const Entry = z.object({ v: z.literal(1), text: z.string().min(1) })

export function inputHistory(place: InputPlace): InputHistory {
  return {
    read: async () => (await ifFolder(place, textsIn)) ?? [],
    add: async (text) => {
      if (text.trim() === '' || text.length > LONGEST_TEXT) return
      await inFolder(place, (folder) =>
        underShortLock({ folder, clock: place.clock }, () => append(folder, text, place)),
      )
    },
  }
}

/** The latest part of the file; a line that a crash cut off is skipped. */
async function textsIn(folder: Folder): Promise<readonly string[]> {
  const file = await ifThere(folder.open(NAME, 'read'))
  if (file === undefined) return []
  return closing(file, async () => {
    const { size } = await file.stat()
    const from = Math.max(0, size - MOST_BYTES)
    const lines = (await readSpan(file, from, size - from)).toString('utf8').split('\n')
    const texts = lines.flatMap(
      (line) => Entry.safeParse(jsonOf(Buffer.from(line))).data?.text ?? [],
    )
    return latestOnce(texts).slice(-MOST_TEXTS)
  })
}

async function append(folder: Folder, text: string, { ids }: InputPlace): Promise<void> {
  const line = lineOf(text)
  const file = (await ifThere(folder.open(NAME, 'append'))) ?? (await folder.open(NAME, 'create'))
  const size = await closing(file, async () => {
    const before = (await file.stat()).size
    const gap = await hasTornEnd(file, before)
    await writeAll(file, Buffer.from(gap ? `\n${line}` : line))
    await file.datasync()
    return before
  })
  if (size === 0) await folder.sync()
  if (size <= MOST_BYTES) return
  const kept = (await textsIn(folder)).slice(-MOST_TEXTS / 2)
  await replaceFile(folder, NAME, Buffer.from(kept.map(lineOf).join('')), ids.temporary())
}

async function hasTornEnd(file: File, size: number): Promise<boolean> {
  return size > 0 && (await readSpan(file, size - 1, 1))[0] !== NEW_LINE
}

function lineOf(text: string): string {
  return `${JSON.stringify({ v: 1, text })}\n`
}

/** Each text where it occurs last. */
export function latestOnce(texts: readonly string[]): string[] {
  return [...new Set(texts.toReversed())].toReversed()
}
