import { join } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import { diskFolder } from './disk.ts'
import { asResult, closing, ifThere, readSpan, writeAll } from './files.ts'

/**
 * Saves bytes for a person as a new file of an existing folder, and returns its path. A file that has these bytes already
 * stays; any other is never overwritten.
 */
export async function saveFile(
  folder: string,
  name: string,
  bytes: Uint8Array,
): Promise<Result<string>> {
  const path = join(folder, name)
  return asResult(`save ${path}`, async () => {
    const opened = await ifThere(diskFolder(folder))
    if (opened === undefined) return failed('not_found', `The folder ${folder} does not exist.`)
    return closing(opened, async () => {
      const known = await ifThere(opened.open(name, 'read'))
      if (known !== undefined) {
        const old = await closing(known, () => readSpan(known, 0, bytes.length + 1))
        return old.equals(bytes) ? ok(path) : takenPath(path)
      }
      await closing(await opened.open(name, 'create'), async (file) => {
        await writeAll(file, Buffer.from(bytes))
        await file.sync()
      })
      await opened.sync()
      return ok(path)
    })
  })
}

function takenPath(path: string): Result<never> {
  return failed('invalid_args', `${path} has other content and was not overwritten.`, { path }, [
    { action: 'Choose another folder, or move the file.' },
  ])
}
