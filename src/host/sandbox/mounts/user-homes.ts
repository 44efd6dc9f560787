import { realpath } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { userHome } from '../../machine.ts'

/** Homes of the user. `$HOME` and the user database may differ, and each may be a link. */
export async function userHomes(): Promise<readonly string[]> {
  const known = [userHome(), homeOfUser()].flatMap((path) =>
    path === undefined ? [] : [resolve(path)],
  )
  const real = await Promise.all(known.map((path) => realpath(path).catch(() => path)))
  return [...new Set([...known, ...real])].filter((path) => path !== '/')
}

function homeOfUser(): string | undefined {
  try {
    const { homedir } = userInfo()
    return homedir.startsWith('/') ? homedir : undefined
  } catch {
    return undefined
  }
}
