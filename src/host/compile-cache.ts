import { lstatSync, mkdirSync, type Stats } from 'node:fs'
import nodeModule from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { homePath } from './machine.ts'

const ONLY_MINE = 0o700
const OTHERS_WRITE = 0o022

/**
 * Lets Node keep the compiled form of this program in `cache` of the home, if its version can (22.1 and later), so that the
 * next start compiles less. A user who can write there can run code as this one. So the home is not created for it, and both
 * folders are required to be real ones of this user that no one else can write to; otherwise nothing is kept. Never throws.
 * `NODE_DISABLE_COMPILE_CACHE=1` turns it off, and a folder that `NODE_COMPILE_CACHE` names is used instead.
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): void {
  const enable: unknown = Reflect.get(nodeModule, 'enableCompileCache')
  if (typeof enable !== 'function') return
  const home = homePath(env)
  if (home === '') return
  const folder = join(home, 'cache')
  if (isMine(home) && (isMine(folder) || (canMake(folder) && isMine(folder)))) {
    Reflect.apply(enable, undefined, [folder])
  }
}

function isMine(path: string): boolean {
  const found = statsOf(path)
  if (found === undefined || !found.isDirectory()) return false
  return found.uid === process.geteuid?.() && (found.mode & OTHERS_WRITE) === 0
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function canMake(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: ONLY_MINE })
    return true
  } catch {
    return false
  }
}
