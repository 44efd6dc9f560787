import { readdirSync, type Dirent } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { liesIn, pathNames } from '../files/confined-path.ts'
import { userHome } from '../machine.ts'
import { foldersUpwards } from '../workspace-search.ts'
import { factsAt, linkTarget } from '../files/look.ts'

/**
 * The folder of the repository: the nearest with a `.git` of ours at or above the workspace and below the home of the
 * person, else the workspace.
 */
export function repositoryOf(workspace: string, home: string | undefined = userHome()): string {
  for (const folder of foldersUpwards(workspace, home)) {
    const git = factsAt(join(folder, '.git'))
    const isRepository = git?.isDirectory() === true || git?.isFile() === true
    if (isRepository && (git.uid === process.geteuid?.() || folder === workspace)) return folder
  }
  return workspace
}

export interface FolderEntry {
  readonly name: string
  readonly isLink: boolean
}

/** The folders and links in a folder, by name; none if it is missing, and the code of the system if it is unreadable. */
export function foldersIn(path: string): readonly FolderEntry[] | { readonly code: string } {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map(entryOf)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    if (typeof code !== 'string') throw error
    return code === 'ENOENT' || code === 'ENOTDIR' ? [] : { code }
  }
}

function entryOf(entry: Dirent): FolderEntry {
  return { name: entry.name, isLink: entry.isSymbolicLink() }
}

/** What is at a path, following no link. */
export function entryAt(path: string): 'folder' | 'link' | 'other' | 'missing' {
  const facts = factsAt(path)
  if (facts === undefined) return 'missing'
  if (facts.isSymbolicLink()) return 'link'
  return facts.isDirectory() ? 'folder' : 'other'
}

/**
 * Whether a path lies in one of the folders or leads through one, link by link: a user who can write there decides
 * where it ends. `folders` are absolute, in every spelling that counts.
 */
export function leadsThrough(path: string, folders: readonly string[]): boolean {
  const inFolder = (place: string) => folders.some((folder) => liesIn(place, folder))
  let waiting = pathNames(resolve(path))
  let place = '/'
  for (let links = 0; waiting.length > 0;) {
    const [name = '', ...rest] = waiting
    if (name === '..') [place, waiting] = [dirname(place), rest]
    else {
      const next = join(place, name)
      if (inFolder(next)) return true
      const target = entryAt(next) === 'link' && links < MOST_LINKS ? linkTarget(next) : undefined
      if (target === undefined) [place, waiting] = [next, rest]
      else {
        links += 1
        if (target.startsWith('/')) place = '/'
        waiting = [...pathNames(target), ...rest]
      }
    }
  }
  return inFolder(place)
}

/** As many as the system follows. */
const MOST_LINKS = 40
