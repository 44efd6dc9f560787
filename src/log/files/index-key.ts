import { sha256 } from '../../encoding/hash.ts'
import { closing, FileFailure, readSpan, replaceFile, type Folder } from '../../host/files/files.ts'
import { Sha256 } from '../../model/ids.ts'
import type { HeadFiles } from './head-files.ts'

/** In `heads`, where commands of a workspace cannot read or write. */
const KEY = 'index-key'

const known = new WeakMap<Folder, string>()

/** The key that authenticates the indexes of this home; `undefined` if there is none yet. */
export async function indexKey({ heads }: Pick<HeadFiles, 'heads'>): Promise<string | undefined> {
  const cached = known.get(heads)
  if (cached !== undefined) return cached
  const key = await readKey(heads)
  if (key !== undefined) known.set(heads, key)
  return key
}

/** Creates the key if there is none. If two processes create it at once, the indexes of one are not used. */
export async function createdIndexKey(place: HeadFiles): Promise<string> {
  const key = await indexKey(place)
  if (key !== undefined) return key
  const { heads, ids } = place
  const fresh = sha256(Array.from({ length: 4 }, () => ids.temporary()).join(' '))
  await replaceFile(heads, KEY, Buffer.from(`${fresh}\n`), ids.temporary())
  known.set(heads, fresh)
  return fresh
}

async function readKey(heads: Folder): Promise<string | undefined> {
  try {
    const text = await closing(await heads.open(KEY, 'read'), (file) => readSpan(file, 0, 128))
    return Sha256.safeParse(text.toString('latin1').trim()).data
  } catch (error) {
    // Without a key, the Log itself is read.
    if (error instanceof FileFailure) return undefined
    throw error
  }
}
