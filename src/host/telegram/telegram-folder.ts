import type * as z from 'zod'
import { failed, ok, type Result } from '../../model/errors.ts'
import { asResult, closing, ifPossible, replaceFile, type Folder } from '../files/files.ts'
import { jsonOf, wholeFile } from '../files/json-file.ts'
import type { Ids } from '../ids.ts'

const FOLDER = 'telegram'
const MOST_BYTES = 4 * 1024 * 1024

/** Where the gateway to Telegram keeps what must outlive it, below `$HAWSER_HOME`. */
export interface TelegramHome {
  readonly home: Folder
  readonly ids: Ids
}

/** Runs `work` in the folder of the gateway, and closes it. */
export async function inTelegramFolder<T>(
  { home }: Pick<TelegramHome, 'home'>,
  work: (folder: Folder) => Promise<Result<T>>,
): Promise<Result<T>> {
  return asResult(`open ${home.label}/${FOLDER}`, async () =>
    closing(await home.folder(FOLDER, 'create'), work),
  )
}

/** The record in a file of the folder; `undefined` if the file is missing. A file that is not such a record is an error. */
export async function readRecord<T>(
  place: Pick<TelegramHome, 'home'>,
  name: string,
  schema: z.ZodType<T>,
): Promise<Result<T | undefined>> {
  return inTelegramFolder(place, async (folder) => {
    const bytes = await wholeFile(folder, name, MOST_BYTES)
    if (bytes === undefined) return ok(undefined)
    const { data } = schema.safeParse(jsonOf(bytes))
    if (data !== undefined) return ok(data)
    const path = `${folder.label}/${name}`
    return failed('storage_failed', `${path} is damaged.`, { path }, [
      { action: 'Delete it and pair the chats again.', command: `rm ${path}` },
    ])
  })
}

/** Replaces a record. Durable once it resolves. */
export async function writeRecord(
  place: TelegramHome,
  name: string,
  record: object,
): Promise<Result<void>> {
  return inTelegramFolder(place, async (folder) => {
    const bytes = Buffer.from(`${JSON.stringify(record)}\n`)
    await replaceFile(folder, name, bytes, place.ids.temporary())
    return ok(undefined)
  })
}

/** Removes a record, if it is there. */
export async function removeRecord(
  place: Pick<TelegramHome, 'home'>,
  name: string,
): Promise<Result<void>> {
  return inTelegramFolder(place, async (folder) => {
    await ifPossible(folder.remove(name))
    await folder.sync()
    return ok(undefined)
  })
}
