import { createHash } from 'node:crypto'
import * as z from 'zod'
import { RecordedFolder } from '../../model/recorded-folder.ts'

/** The folder of `$HAWSER_HOME` with one file for each workspace. */
export const REGISTER = 'workspaces'

/** The largest entry that is read. */
export const ENTRY_BYTES = 16 * 1024

const RegisterEntry = z.object({
  v: z.literal(1),
  /** Absolute, with all links resolved. */
  path: z.string(),
  /** Absent in entries of older versions. */
  folder: RecordedFolder.optional(),
  /** Its `.hawser` was there before this home opened it for the first time. */
  adopted: z.literal(true).exactOptional(),
})

/** What the register says about one workspace. */
export type RegisterEntry = Readonly<z.infer<typeof RegisterEntry>>

/** The name of the file with the entry of a workspace. */
export function entryName(path: string): string {
  return `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.json`
}

/** `undefined` if the bytes are not an entry. */
export function entryOf(bytes: Buffer): RegisterEntry | undefined {
  try {
    return RegisterEntry.safeParse(JSON.parse(bytes.toString('utf8'))).data
  } catch {
    return undefined
  }
}

export function entryBytes(entry: RegisterEntry): Buffer {
  return Buffer.from(`${JSON.stringify(entry)}\n`)
}
