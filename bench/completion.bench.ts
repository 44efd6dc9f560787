// Completion of `@` words in a workspace of 100,000 files: the time that a key press takes once the files are scanned, and how
// long the first scan keeps a key waiting. In a repository, listed by git in the sandbox, and without one, by a walk.
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openConfined } from '../src/host/files/confined-files.ts'
import { systemClock } from '../src/host/clock.ts'
import { systemSandbox } from '../src/host/sandbox/sandbox.ts'
import { FileIndex } from '../src/presenters/cli/suggest/file-index.ts'
import { Suggestions } from '../src/presenters/cli/suggest/suggestions.ts'
import { listFiles } from '../src/session/commands/workspace-files.ts'
import { value } from '../test/support/log/story.ts'
import { full, quantile, tell } from './figure.ts'
import { inScratch } from './scratch.ts'

const FILES = full ? 100_000 : 10_000
const A_FOLDER = 50

/** Typed one character at a time, each followed by removing it again. */
const WORDS = ['src/component', 'Button.test.tsx', 'idx', 'zzz', 'module-77/file', 'e', 'tsx']

await inScratch(async (folder) => {
  const workspace = join(folder, 'workspace')
  await makeFiles(workspace)
  await report('without a repository', workspace, folder)
  await promisify(execFile)('git', ['init', '-q', workspace])
  await report('in a repository', workspace, folder)
})

async function makeFiles(workspace: string): Promise<void> {
  const names = ['index.ts', 'Button.test.tsx', 'component.tsx', 'styles.css', 'README.md']
  for (let at = 0; at < FILES; at += A_FOLDER) {
    const place = join(workspace, 'src', `module-${at % 97}`, `component-${at}`)
    await mkdir(place, { recursive: true })
    const files = Array.from({ length: A_FOLDER }, (_, one) =>
      writeFile(join(place, one < names.length ? (names[one] ?? '') : `file-${one}.ts`), ''),
    )
    await Promise.all(files)
  }
}

async function report(where: string, workspace: string, folder: string): Promise<void> {
  const files = value(await openConfined(workspace, { refuse: [join(folder, 'home')] }))
  const tools = { files, sandbox: systemSandbox(), protectedPaths: [] }
  await tools.sandbox.status()
  const parts = { workspace: { path: workspace, home: join(folder, 'home') }, tools }
  const started = performance.now()
  const blocked = monitorEventLoopDelay({ resolution: 1 })
  blocked.enable()
  let reports = 0
  const index = await new Promise<FileIndex>((resolve) => {
    const made = new FileIndex(
      (scan) => listFiles(parts, scan),
      systemClock,
      () => {
        reports += 1
        if (made.progress === undefined) resolve(made)
      },
    )
    made.refresh()
  })
  blocked.disable()
  const scan_ms = performance.now() - started
  await files.close()
  const keys = await pressed(index)
  const cpu = keys.map((key) => key.cpu)
  const listed = keys.map((key) => key.listed)
  tell({
    bench: `completion: most CPU time of a key in ms over ${FILES} files, ${where}`,
    ratio: Math.max(...cpu),
    bar: '<= 50',
    more: {
      p50_ms: quantile(cpu, 0.5),
      p99_ms: quantile(cpu, 0.99),
      longest_wall_ms: Math.max(...keys.map((key) => key.wall)),
      listed_p50_ms: quantile(listed, 0.5),
      listed_max_ms: Math.max(...listed),
      keys: cpu.length,
    },
  })
  tell({
    bench: `completion: longest time in ms that the first scan blocks a key, ${where}`,
    ratio: blocked.max / 1e6,
    bar: '<= 50',
    more: { scan_ms, reports, paths: index.paths.length },
  })
}

function none(): [] {
  return []
}

interface PressedKey {
  /** From the draft to the rows. CPU time does not depend on what else the machine does. */
  readonly cpu: number
  readonly wall: number
  /** CPU time until the list is the one for the draft. */
  readonly listed: number
}

/** Each key is pressed when the list of the previous one is complete. */
async function pressed(files: FileIndex): Promise<PressedKey[]> {
  let changed: () => void = none
  const sources = { files, handles: none, commands: none, skills: none, arguments: none }
  const list = new Suggestions(sources, () => changed())
  const keys: PressedKey[] = []
  for (const word of WORDS) {
    const drafts = Array.from({ length: word.length + 1 }, (_, at) => `@${word.slice(0, at)}`)
    for (const text of [...drafts, ...drafts.toReversed()]) {
      const complete = new Promise<void>((resolve) => {
        changed = resolve
      })
      const started = performance.now()
      const before = process.cpuUsage()
      list.follow({ text, cursor: text.length })
      list.rows(100)
      const [cpu, wall] = [cpuSince(before), performance.now() - started]
      await complete
      keys.push({ cpu, wall, listed: cpuSince(before) })
    }
  }
  return keys
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
