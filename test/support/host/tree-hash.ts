import { createHash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** A hash of the names, modes, inodes and contents of everything below a folder, except the paths in `without`. */
export async function treeHash(folder: string, without: readonly string[] = []): Promise<string> {
  const hash = createHash('sha256')
  const visit = async (path: string): Promise<void> => {
    if (without.includes(path)) return
    const facts = await lstat(path)
    hash.update(`${path}\0${facts.mode}\0${facts.ino}\0${facts.size}\0`)
    if (facts.isSymbolicLink()) hash.update(await readlink(path))
    if (facts.isFile()) hash.update(await readFile(path).catch(() => 'closed'))
    if (!facts.isDirectory()) return
    const names = await readdir(path).catch(() => [])
    for (const name of names.sort((a, b) => (a < b ? -1 : 1))) await visit(join(path, name))
  }
  await visit(folder)
  return hash.digest('hex')
}
