import type { ConfinedFiles } from '../host/confined-files.ts'

const HEAD_BYTES = 4096

/** The branch that is checked out, read from the file git keeps it in; no program runs for that. */
export async function currentBranch(files: ConfinedFiles): Promise<string | undefined> {
  const head = await files.read('.git/HEAD', HEAD_BYTES)
  if (!head.ok) return undefined
  return /^ref: refs\/heads\/(\S+)\s*$/.exec(head.value.bytes.toString('utf8'))?.[1]
}
