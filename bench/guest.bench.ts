// The time until a bare Node in the sandbox of a guest has written one byte to its descriptor. The floor is the same Node without a
// sandbox. Then the time until a guest is ready, with that bare Node as its floor. The self-test, which a server runs once, is
// not included.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import type { ProgramFiles } from '../src/host/process/own-program.ts'
import { systemSandbox, type Confinement, type LongProcess } from '../src/host/sandbox/sandbox.ts'
import { full, median, medianRatio, tell, tellSkipped, timed } from './figure.ts'
import { builtProgram } from './program.ts'
import { readyGuest } from './ready-guest.ts'
import { inScratch } from './scratch.ts'
import { makeRecords } from '../test/support/session/records.ts'

const ROUNDS = full ? 40 : 5
const BARE_NODE = [
  process.execPath,
  '-e',
  `require('node:fs').writeSync(4, '.'); setInterval(() => {}, 1e6)`,
] as const

const sandbox = systemSandbox()

await inScratch(async (folder) => {
  const status = await sandbox.status()
  if (!status.isConfined || status.nests !== true) {
    return tellSkipped('guest', status.isConfined ? 'sandboxes do not nest here' : status.why)
  }
  const place = await guestPlace(folder)
  const program = programOf(await builtProgram())
  const model = { ...place, provider: 'anthropic', model: 'claude-haiku-4-5' }
  const [plain, bare, pauses, resumes, ready] = [list(), list(), list(), list(), list()]
  let child: ChildProcess | undefined
  let guest: LongProcess | undefined
  for (let round = 0; round < ROUNDS; round += 1) {
    plain.push(await timed(async () => void (child = await plainNode())))
    child?.kill('SIGKILL')
    bare.push(await timed(async () => void (guest = await bareGuest(place))))
    pauses.push(await timed(async () => guest?.pause()))
    resumes.push(await timed(async () => guest?.resume()))
    await guest?.stop(0)
    ready.push(await timed(async () => void (guest = await readyGuest(model, program))))
    await guest?.stop(0)
  }
  tell({
    bench:
      'guest: start of a bare Node in the sandbox of a guest, relative to one without a sandbox',
    ratio: medianRatio(bare, plain),
    bar: '<= 4',
    more: {
      ms: median(bare),
      floor_ms: median(plain),
      pause_ms: median(pauses),
      resume_ms: median(resumes),
    },
  })
  tell({
    bench: 'guest: start of a guest until it is ready, relative to a bare Node in its sandbox',
    ratio: medianRatio(ready, bare),
    bar: '<= 3',
    more: { ms: median(ready), floor_ms: median(bare) },
  })
})

function programOf(script: string): ProgramFiles {
  const readable = ['.', '../node_modules', '../package.json'].map((path) =>
    join(dirname(script), path),
  )
  return { argv: [process.execPath, script], readable }
}

function list(): number[] {
  return []
}

interface GuestPlace extends Confinement {
  readonly ownHome: string
  readonly records: string
}

async function guestPlace(folder: string): Promise<GuestPlace> {
  const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')]
  const ownHome = join(home, 'instances/a/home')
  await mkdir(workspace, { recursive: true })
  const records = await makeRecords(workspace, 'a')
  await mkdir(ownHome, { recursive: true })
  return {
    workspace,
    home,
    ownHome,
    records,
    guest: true,
    writable: 'workspace',
    protectedPaths: [],
  }
}

/** Resolves when the program has written to `frames`. */
async function bareGuest(place: Confinement): Promise<LongProcess> {
  const order = { argv: BARE_NODE, descriptors: ['frames', 'relay'], onOutput: () => {} }
  const started = await sandbox.start(place, order)
  if (!started.ok) throw new Error(started.error.message)
  await once(started.value.descriptor('frames'), 'data')
  return started.value
}

async function plainNode(): Promise<ChildProcess> {
  const [file, ...args] = BARE_NODE
  const stdio = ['ignore', 'ignore', 'ignore', 'ignore', 'pipe', 'pipe'] as const
  const child = spawn(file, args, { env: {}, stdio: [...stdio] })
  const frames = child.stdio[4]
  if (frames) await once(frames, 'data')
  return child
}
