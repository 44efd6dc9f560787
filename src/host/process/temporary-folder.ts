import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { ownerIsGone, ownerMark } from './owner-mark.ts'

/** Creates a folder that a later process removes if this one is killed first. */
export function temporaryFolder(
  kind: 'pipe' | 'proof',
  parent: string = tmpdir(),
): Promise<string> {
  return mkdtemp(join(parent, `hawser-${kind}-${ownerMark()}-`))
}

/** Removes temporary folders of our user whose process has ended. Never throws for disk errors. */
export async function removeAbandonedFolders(parent: string = tmpdir()): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  const abandoned = names.filter((name) => ownerIsGone(NAME.exec(name)?.[1] ?? ''))
  await Promise.allSettled(
    abandoned.map(async (name) => {
      const path = join(parent, name)
      const facts = await lstat(path)
      // In a world-writable folder, another user may have created an entry with that name.
      const ours = facts.isDirectory() && facts.uid === process.geteuid?.()
      if (ours) await rm(path, { recursive: true, force: true })
    }),
  )
}

const NAME = /^hawser-(?:pipe|proof)-([0-9a-z]+-[0-9a-z]+-[0-9a-z]+)-\w{6}$/
