import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { entryOf, REGISTER } from './entry.ts'
import { entryNames } from '../files/look.ts'

interface KnownRegister {
  /** Changes with every entry that is added. */
  readonly stamp: string
  readonly paths: ReadonlyMap<string, string | undefined>
}

const KNOWN = new Map<string, KnownRegister>()

/**
 * The paths of all workspaces in the register of a home, in no particular order; some may no longer exist. Reads only
 * entries that are new since the last call of this process: this runs before every command. Never throws.
 */
export function registeredWorkspaces(hawserHome: string): readonly string[] {
  const folder = join(hawserHome, REGISTER)
  const stamp = stampOf(folder)
  const known = KNOWN.get(folder)
  if (stamp === undefined) return []
  if (known?.stamp === stamp) return pathsOf(known)
  const names = entryNames(folder).filter((name) => name.endsWith('.json'))
  const paths = new Map(
    names.map((name) => [name, known?.paths.get(name) ?? pathIn(join(folder, name))]),
  )
  KNOWN.set(folder, { stamp, paths })
  return pathsOf({ paths })
}

function pathsOf({ paths }: Pick<KnownRegister, 'paths'>): readonly string[] {
  return [...paths.values()].filter((path) => path !== undefined)
}

function stampOf(folder: string): string | undefined {
  try {
    const { ino, ctimeNs } = statSync(folder, { bigint: true })
    return `${ino}:${ctimeNs}`
  } catch {
    return undefined
  }
}

function pathIn(file: string): string | undefined {
  try {
    return entryOf(readFileSync(file))?.path
  } catch {
    return undefined
  }
}
