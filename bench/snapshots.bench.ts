// A snapshot of 15,000 unchanged files, after an edit of one file, and the first one. Floor: git's own `add -A` and `write-tree` in
// the same tree.
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../src/host/clock.ts'
import { systemIds } from '../src/host/ids.ts'
import { workspaceSnapshots } from '../src/host/snapshots/snapshots.ts'
import { full, median, medianRatio, tell, timed } from './figure.ts'
import { inScratch } from './scratch.ts'

const FOLDERS = full ? 1_000 : 50
const FILES = 15
const ROUNDS = full ? 40 : 5
const UNCHANGED = full ? 1_000 : 20

await inScratch(async (folder) => {
  const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')]
  await mkdir(home, { mode: 0o700 })
  for (let at = 0; at < FOLDERS; at += 1) {
    const inner = join(workspace, `p${at % 50}/q${at}`)
    await mkdir(inner, { recursive: true })
    for (let file = 0; file < FILES; file += 1)
      await writeFile(join(inner, `file${file}.ts`), `${'x'.repeat(2_000)}${at} ${file}\n`)
  }
  execFileSync('git', ['init', '-q', workspace])
  const byGit = async () => {
    git(workspace, 'add', '-A')
    git(workspace, 'write-tree')
  }
  const snapshots = workspaceSnapshots({ workspace, home, ids: systemIds(systemClock) })
  const take = async () => {
    const taken = await snapshots.take()
    if (!taken.ok) throw new Error(taken.error.message)
  }
  const first_git_ms = await timed(byGit)
  const first_ms = await timed(take)
  // What has just changed is read again.
  await new Promise<void>((resolve) => void setTimeout(resolve, 2_100))
  await take()
  const [unchanged, edited, floor]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    unchanged.push(await timed(take))
    floor.push(await timed(byGit))
    await writeFile(join(workspace, 'p0/q0/file0.ts'), `edited ${round}\n`)
    edited.push(await timed(take))
  }
  const before = await bytesBelow(home)
  for (let round = 0; round < UNCHANGED; round += 1) await take()
  const files = FOLDERS * FILES
  const floor_ms = median(floor)
  tell({
    bench: `snapshots: ${files} unchanged files, relative to 45 ms or 1.3 times git`,
    ratio: median(unchanged) / Math.max(45, 1.3 * floor_ms),
    bar: '<= 1',
    more: { ms: median(unchanged), floor_ms, to_floor: medianRatio(unchanged, floor) },
  })
  tell({
    bench: `snapshots: one of ${files} files edited, relative to 45 ms or 1.3 times git`,
    ratio: median(edited) / Math.max(45, 1.3 * floor_ms),
    bar: '<= 1.2',
    more: { ms: median(edited), floor_ms },
  })
  tell({
    bench: `snapshots: the first one of ${files} files, relative to the first one of git`,
    ratio: first_ms / first_git_ms,
    bar: '<= 1.5',
    more: { first_ms, first_git_ms },
  })
  tell({
    bench: `snapshots: ${UNCHANGED} of an unchanged tree, bytes on disk relative to 1 MB`,
    ratio: ((await bytesBelow(home)) - before) / 1_000_000,
    bar: '<= 1',
    more: { bytes: (await bytesBelow(home)) - before },
  })
})

function git(folder: string, ...args: readonly string[]): void {
  execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' })
}

async function bytesBelow(folder: string): Promise<number> {
  let sum = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const at = join(folder, entry.name)
    sum += entry.isDirectory() ? await bytesBelow(at) : (await stat(at)).size
  }
  return sum
}
