import { basename, dirname } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import { diskFolder } from './disk.ts'
import { asResult, FileFailure, ifPossible, ifThere, writeAll } from './files.ts'

/** A file that is being written for a person. Ends with `finish` or `discard`. */
export interface ExportFile {
  write(text: string): Promise<Result<void>>
  /** Makes it durable and answers how many bytes it has. */
  finish(): Promise<Result<number>>
  /** Takes it away again. */
  discard(): Promise<void>
}

/** Makes a new file, readable by its owner alone. What is there already, also a link, is never written over. */
export async function createExport(path: string): Promise<Result<ExportFile>> {
  const name = basename(path)
  if (path.endsWith('/') || /^\.{0,2}$/.test(name))
    return failed('invalid_args', 'That is not the name of a file.')
  return asResult('write the export', async () => {
    const folder = await ifThere(diskFolder(dirname(path)))
    if (folder === undefined)
      return failed('not_found', 'There is no folder to write that file to.')
    try {
      const file = await folder.open(name, 'create')
      let bytes = 0
      return ok({
        write: (text) =>
          asResult('write the export', async () => {
            const piece = Buffer.from(text)
            await writeAll(file, piece)
            bytes += piece.length
            return ok(undefined)
          }),
        finish: () =>
          asResult('write the export', async () => {
            await file.sync()
            await file.close()
            await folder.sync()
            await folder.close()
            return ok(bytes)
          }),
        discard: async () => {
          await ifPossible(file.close())
          await ifPossible(folder.remove(name))
          await ifPossible(folder.close())
        },
      })
    } catch (error) {
      await ifPossible(folder.close())
      if (error instanceof FileFailure && error.code === 'EEXIST') return taken()
      throw error
    }
  })
}

function taken(): Result<never> {
  return failed(
    'invalid_args',
    'Something of that name is there already, and stays as it is.',
    {},
    [{ action: 'Choose another name, or move it away.' }],
  )
}
