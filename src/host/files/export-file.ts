import { basename, dirname } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import { diskFolder } from './disk.ts'
import { asResult, FileFailure, ifPossible, ifThere, writeAll } from './files.ts'

/** A file being written for a person. Ends with `finish` or `discard`. */
export interface ExportFile {
  write(text: string): Promise<Result<void>>
  /** Makes the file durable and returns its size in bytes. */
  finish(): Promise<Result<number>>
  /** Removes the file. */
  discard(): Promise<void>
}

/** Creates a new file, readable only by its owner. An existing file or link is never overwritten. */
export async function createExport(path: string): Promise<Result<ExportFile>> {
  const name = basename(path)
  if (path.endsWith('/') || /^\.{0,2}$/.test(name))
    return failed('invalid_args', `${path} is not a file name.`)
  return asResult('write the export', async () => {
    const folder = await ifThere(diskFolder(dirname(path)))
    if (folder === undefined) return failed('not_found', `The folder of ${path} does not exist.`)
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
      if (error instanceof FileFailure && error.code === 'EEXIST') return takenPath()
      throw error
    }
  })
}

function takenPath(): Result<never> {
  return failed('invalid_args', 'The export file already exists and was not overwritten.', {}, [
    { action: 'Choose another name, or move the existing file.' },
  ])
}
