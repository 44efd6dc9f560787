import { closing, ifThere, readSpan, type Folder } from './files.ts'

/** At most `limit` bytes of a file; `undefined` if it is missing. */
export async function wholeFile(
  folder: Folder,
  name: string,
  limit: number,
): Promise<Buffer | undefined> {
  const file = await ifThere(folder.open(name, 'read'))
  return file && closing(file, () => readSpan(file, 0, limit))
}

/** The value of a JSON text; `undefined` if it is none. */
export function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
