import * as z from 'zod'
import { closing, ifThere, replaceFile } from '../files/files.ts'
import { jsonOf, wholeFile } from '../files/json-file.ts'
import { ifFolder, inFolder, type InputPlace } from './place.ts'

const StoredDraft = z.object({
  v: z.literal(1),
  text: z.string(),
  cursor: z.int().nonnegative(),
  /** Long pasted texts, by the character that represents each. */
  chips: z.array(z.tuple([z.string(), z.string()])),
  /** Complete messages that wait for the end of a Turn, the first one first. */
  queue: z.array(z.string().min(1)).default([]),
})
export type StoredDraft = z.infer<typeof StoredDraft>

/** What was typed and not sent: a draft and a queue for each name: that of a Session, or one for all that are new. */
export interface InputDrafts {
  read(name: string): Promise<StoredDraft | undefined>
  /** Durable when it resolves; a draft that is too long is not stored. The caller removes keys from it. */
  write(name: string, draft: StoredDraft): Promise<void>
  remove(name: string): Promise<void>
}

const MOST_BYTES = 16 * 1024 * 1024

export function inputDrafts(place: InputPlace): InputDrafts {
  return {
    read: (name) =>
      ifFolder(place, async (folder) => {
        const bytes = await wholeFile(folder, fileOf(name), await sizeOf(folder, fileOf(name)))
        const found = bytes && StoredDraft.safeParse(jsonOf(bytes)).data
        return found === undefined || found.cursor > found.text.length ? undefined : found
      }),
    write: async (name, draft) => {
      const bytes = Buffer.from(JSON.stringify(draft))
      if (bytes.length > MOST_BYTES) return
      await inFolder(place, (folder) =>
        replaceFile(folder, fileOf(name), bytes, place.ids.temporary()),
      )
    },
    remove: async (name) => {
      await ifFolder(place, async (folder) => {
        await ifThere(folder.remove(fileOf(name)))
        await folder.sync()
      })
    },
  }
}

async function sizeOf(folder: Parameters<typeof wholeFile>[0], name: string): Promise<number> {
  const file = await ifThere(folder.open(name, 'read'))
  if (file === undefined) return 0
  const { size } = await closing(file, () => file.stat())
  return Math.min(size, MOST_BYTES)
}

function fileOf(name: string): string {
  return `draft-${name}.json`
}
