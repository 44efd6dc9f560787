// One sandboxed `true` in a large workspace, including the inspection before and after. One floor is the same in an empty
// workspace, the other a plain walk over the large one, twice. The first ratio also grows when everything else gets faster.
import { lstatSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { systemSandbox } from '../src/host/sandbox/sandbox.ts'
import { rootPaths } from '../src/model/safety/protected-paths.ts'
import { full, median, medianRatio, tell, tellSkipped, timed } from './figure.ts'
import { inScratch } from './scratch.ts'

const SIZES = [15_000, 138_000].map((entries) => (full ? entries : entries / 10))
const ROUNDS = full ? 80 : 8
/** As in node_modules: this project's has 15,138 entries in 1,140 folders. */
const FILES_A_FOLDER = 12
const sandbox = systemSandbox()

await inScratch(async (folder) => {
  const status = await sandbox.status()
  if (!status.isConfined) return tellSkipped('inspection', status.why)
  const empty = await workspaceOf(folder, 0)
  for (const entries of SIZES) {
    const large = await workspaceOf(folder, entries)
    const first_ms = await timed(large)
    await empty()
    // A folder counts as settled some time after its last change.
    await setTimeout(3_000)
    await large()
    const ours: number[] = []
    const floor: number[] = []
    const walks: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      // Alternate: the second of two runs with the caches that the first left.
      if (round % 2 === 0) ours.push(await timed(large))
      floor.push(await timed(empty))
      if (round % 2 === 1) ours.push(await timed(large))
      if (round % 4 === 0)
        walks.push(await timed(async () => walkTwice(workspacePath(folder, entries))))
    }
    tell({
      bench: `inspection: a command in a workspace of ${entries} entries, relative to an empty one`,
      ratio: medianRatio(ours, floor),
      bar: entries > 100_000 ? '<= 4' : '<= 1.3',
      more: { ms: median(ours), floor_ms: median(floor), first_ms },
    })
    const added_ms = median(ours) - median(floor)
    tell({
      bench: `inspection: time that it adds in a workspace of ${entries} entries, relative to walking it twice`,
      ratio: added_ms / median(walks),
      bar: '<= 0.5',
      more: { added_ms, floor_ms: median(walks) },
    })
  }
})

function workspacePath(folder: string, entries: number): string {
  return join(folder, `workspace-${entries}`)
}

function walkTwice(root: string): void {
  for (let walk = 0; walk < 2; walk += 1) {
    const waiting = [root]
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      lstatSync(folder)
      for (const entry of readdirSync(folder, { withFileTypes: true }))
        if (entry.isDirectory()) waiting.push(join(folder, entry.name))
    }
  }
}

/** Creates a workspace with this many files and folders, and returns a function that runs `true` in it. */
async function workspaceOf(folder: string, entries: number): Promise<() => Promise<void>> {
  const workspace = workspacePath(folder, entries)
  const home = join(folder, `home-${entries}`)
  await mkdir(workspace)
  await mkdir(home)
  const folders = Math.floor(entries / (FILES_A_FOLDER + 1))
  for (let at = 0; at < folders; at += 1) {
    const inner = join(workspace, `a${at % 20}`, `b${at}`)
    await mkdir(inner, { recursive: true })
    for (let file = 0; file < FILES_A_FOLDER; file += 1)
      await writeFile(join(inner, `f${file}`), '')
  }
  const place = {
    workspace,
    home,
    writable: 'workspace',
    protectedPaths: rootPaths('asks'),
  } as const
  const run = sandbox.runConfined(place)
  return async () => {
    const signal = new AbortController().signal
    const ran = await run({ argv: ['/bin/true'], wallMs: 60_000, signal, onOutput: () => {} })
    if (!ran.ok) throw new Error(ran.error.message)
  }
}
