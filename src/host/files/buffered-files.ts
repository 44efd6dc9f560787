import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { ConfinedFiles, FileContent } from './confined-files.ts'
import { shownPath } from './confined-path.ts'
import { changedSince, FILE_BYTES, type ExpectedContent } from './confined-write.ts'

/** The files that an editor has open. Paths are absolute. Never throws. */
export interface OpenBuffers {
  /** The content in the editor; `undefined` if the editor does not say. */
  read(path: string): Promise<string | undefined>
  /** Replaces the content in the editor, and returns whether it did. Absent if the editor does not offer it. */
  readonly write?: ((path: string, text: string) => Promise<boolean>) | undefined
}

/**
 * The files of a workspace as a person sees them: one with unsaved changes has the content of the editor, and is changed
 * there. Whatever is confined stays so, because the disk is asked first. A file that exists only in the editor is not seen.
 * Without an editor, they are the files on disk.
 */
export function bufferedFiles(
  files: ConfinedFiles,
  buffers: OpenBuffers | undefined,
): ConfinedFiles {
  if (buffers === undefined) return files
  return {
    ...files,
    read: async (path, limit) => {
      const file = await files.read(path, limit)
      if (!file.ok || file.value.truncated) return file
      const unsaved = await unsavedIn(files, buffers, file.value)
      if (unsaved === undefined) return file
      const { length: size } = unsaved
      const shown = { bytes: unsaved.subarray(0, limit), size, truncated: size > limit }
      return ok({ ...file.value, ...shown, isUnsaved: true })
    },
    write: async (path, bytes, options) => {
      const file = await files.read(path, FILE_BYTES)
      const unsaved = file.ok ? await unsavedIn(files, buffers, file.value) : undefined
      if (!file.ok || unsaved === undefined) return files.write(path, bytes, options)
      const { path: real } = file.value
      const { expect, place = real } = options
      if (place !== real || !isExpected(unsaved, expect)) return changedSince(path)
      const written = await writeUnsaved(join(files.root, real), bytes, buffers, path)
      return written.ok ? ok({ path: real, previous: unsaved }) : written
    },
    remove: async (path, options) => {
      const file = await files.read(path, FILE_BYTES)
      const unsaved = file.ok ? await unsavedIn(files, buffers, file.value) : undefined
      return unsaved === undefined ? files.remove(path, options) : changedSince(path)
    },
  }
}

/** The content in the editor, if it differs from the disk by more than line ends, which editors keep to themselves. */
async function unsavedIn(
  { root }: ConfinedFiles,
  buffers: OpenBuffers,
  { path, bytes, truncated }: FileContent,
): Promise<Buffer | undefined> {
  if (truncated || !isUtf8(bytes)) return undefined
  const text = await buffers.read(join(root, path))
  if (text === undefined || plain(text) === plain(bytes.toString('utf8'))) return undefined
  return Buffer.from(text)
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
}

function isExpected(content: Buffer, expect: ExpectedContent): boolean {
  if (typeof expect !== 'object') return expect !== 'absent'
  return createHash('sha256').update(content).digest('hex') === expect.sha256
}

async function writeUnsaved(
  place: string,
  bytes: Uint8Array,
  { write }: OpenBuffers,
  path: string,
): Promise<Result<void>> {
  const name = shownPath(path)
  if (write === undefined || !isUtf8(bytes)) {
    return failed(
      'no_match',
      `${name} has unsaved changes in the editor, which must be saved first.`,
    )
  }
  if (await write(place, Buffer.from(bytes).toString('utf8'))) return ok(undefined)
  return failed('storage_failed', `The editor did not take the change of ${name}.`)
}
