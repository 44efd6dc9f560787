import { readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Tree } from './source.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const PICTURE = /^docs\/.*\.png$/
const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'coverage', '.hawser'])

/** Every text file of the checkout in `root`, tracked by git or not; of a picture in `docs`, that it is there. */
export async function readTree(root: string = ROOT): Promise<Tree> {
  const paths = await pathsUnder(root, '')
  const texts = await Promise.all(
    paths.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const),
  )
  const pictures = texts.filter(([path]) => PICTURE.test(path)).map(([path]) => [path, ''] as const)
  return new Map([...texts.filter(([, text]) => !text.includes('\0')), ...pictures])
}

/** Folders that identify this machine; a short one could occur in text by chance. */
export function machineFolders(): string[] {
  return [ROOT, homedir()].filter((folder) => folder.split('/').length > 2)
}

async function pathsUnder(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  const paths = entries
    .filter((entry) => !NOT_OURS.has(entry.name))
    .map(async (entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) return pathsUnder(root, path)
      return entry.isFile() ? [path] : []
    })
  return (await Promise.all(paths)).flat()
}
