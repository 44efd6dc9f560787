// A snapshot of 15,000 and of 138,000 unchanged files, after an edit of one file, the first one, and both around a command. Floor:
// git's own `add -A` and `write-tree` in the same tree.
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../src/host/clock.ts'
import { systemIds } from '../src/host/ids.ts'
import { workspaceSnapshots } from '../src/host/snapshots/snapshots.ts'
import { full, median, medianRatio, tell, timed } from './figure.ts'
import { inScratch } from './scratch.ts'

const SIZES = [15_000, 138_000].map((files) => (full ? files : files / 20))
const FILES = 15
const ROUNDS = full ? 40 : 5
const UNCHANGED = full ? 1_000 : 20
/** What git needs for 15,000 unchanged files on the machine that the bar was set on, times 1.3. */
const LEAST_MS = 45

const COMMANDS = {
  true: ['true'],
  'sed -i on one file': ['sed', '-i', 's/^x/y/', 'p1/q1/file1.ts'],
  'a test run': [process.execPath, '--test', 'p2/q2'],
}

for (const files of SIZES) {
  await inScratch(async (folder) => {
    const place = { workspace: join(folder, 'workspace'), home: join(folder, 'home') }
    await mkdir(place.home, { mode: 0o700 })
    await fill(place.workspace, files)
    const byGit = async () => {
      git(place.workspace, 'add', '-A')
      git(place.workspace, 'write-tree')
    }
    const snapshots = workspaceSnapshots({ ...place, ids: systemIds(systemClock) })
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
      await writeFile(join(place.workspace, 'p0/q0/file0.ts'), `edited ${round}\n`)
      edited.push(await timed(take))
    }
    const floor_ms = median(floor)
    // The constant is for the smaller size.
    const least = Math.max(files > 15_000 ? 0 : LEAST_MS, 1.3 * floor_ms)
    const relative = `relative to ${files > 15_000 ? '' : '45 ms or '}1.3 times git`
    tell({
      bench: `snapshots: ${files} unchanged files, ${relative}`,
      ratio: median(unchanged) / least,
      bar: '<= 1',
      more: { ms: median(unchanged), floor_ms, to_floor: medianRatio(unchanged, floor) },
    })
    tell({
      bench: `snapshots: one of ${files} files edited, ${relative}`,
      ratio: median(edited) / least,
      bar: '<= 1.2',
      more: { ms: median(edited), floor_ms },
    })
    tell({
      bench: `snapshots: the first one of ${files} files, relative to the first one of git`,
      ratio: first_ms / first_git_ms,
      bar: '<= 1.5',
      more: { first_ms, first_git_ms },
    })
    for (const [name, command] of Object.entries(COMMANDS)) {
      const [both, gits]: [number[], number[]] = [[], []]
      for (let round = 0; round < Math.ceil(ROUNDS / 4); round += 1) {
        const run = () => runIn(place.workspace, command)
        both.push((await timed(take)) + (run(), await timed(take)))
        gits.push((await timed(byGit)) + (run(), await timed(byGit)))
      }
      tell({
        bench: `snapshots: both around ${name} in ${files} files, relative to git`,
        ratio: medianRatio(both, gits),
        bar: '<= 1.6',
        more: { ms: median(both), floor_ms: median(gits) },
      })
    }
    if (files > 15_000) return
    await take()
    const before = await bytesBelow(place.home)
    for (let round = 0; round < UNCHANGED; round += 1) await take()
    const bytes = (await bytesBelow(place.home)) - before
    tell({
      bench: `snapshots: ${UNCHANGED} of an unchanged tree, bytes on disk relative to 1 MB`,
      ratio: bytes / 1_000_000,
      bar: '<= 1',
      more: { bytes },
    })
  })
}

async function fill(workspace: string, files: number): Promise<void> {
  for (let at = 0; at < files / FILES; at += 1) {
    const inner = join(workspace, `p${at % 50}/q${at}`)
    await mkdir(inner, { recursive: true })
    for (let file = 0; file < FILES; file += 1)
      await writeFile(join(inner, `file${file}.ts`), `${'x'.repeat(2_000)}${at} ${file}\n`)
  }
  await writeFile(
    join(workspace, 'p2/q2/one.test.mjs'),
    `import test from 'node:test'\nimport { writeFileSync } from 'node:fs'\ntest('writes', () => writeFileSync('coverage.json', String(Math.random())))\n`,
  )
  execFileSync('git', ['init', '-q', workspace])
}

function runIn(cwd: string, [program = '', ...args]: readonly string[]): void {
  execFileSync(program, args, { cwd, stdio: 'ignore' })
}

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
