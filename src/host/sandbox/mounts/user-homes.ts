import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { realPathOf } from '../../files/look.ts'
import { userHome } from '../../machine.ts'

/** Homes of the user. `$HOME` and the user database may differ, and each may be a link. */
export function userHomes(): readonly string[] {
  const known = [userHome(), homeOfUser()].flatMap((path) =>
    path === undefined ? [] : [resolve(path)],
  )
  const real = known.map((path) => realPathOf(path) ?? path)
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
