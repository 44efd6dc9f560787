import { execFileSync } from 'node:child_process'
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionId } from '../../../src/model/ids.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { storeProblems } from '../../support/changes/store-problems.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { random, type Random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { startChild } from '../support/child.ts'

const ACTS = ['turn', 'own', 'undo', 'redo'] as const
type Act = (typeof ACTS)[number]

export interface UndoKills {
  readonly violations: string[]
  /** Kills before the act had an effect, in the middle of it, and after the whole of it. */
  readonly moments: { before: number; within: number; after: number }
}

const BUILD = `
git init -q -b main . && git config user.name a && git config user.email a@example.org
mkdir -p src/deep && printf one > a.txt && printf '#!/bin/sh\\n' > run.sh && chmod 755 run.sh
for i in $(seq 40); do printf "$i" > src/$i.txt; done; ln -s ../a.txt src/link; printf leaf > src/deep/leaf
git add -A && git commit -qm one && printf two > a.txt && git commit -qam two && printf staged > s.txt && git add s.txt
`

/** Commands that change files and the repository; those that a person would be asked about are not recognized as such. */
const COMMANDS = [
  'for i in 1 2 3 4 5 6; do printf new > n$i.txt; printf x >> a.txt; rm -f src/$i.txt; done',
  'rm -rf src; mkdir -p new/deep; printf made > new/deep/made; chmod 700 run.sh',
  'x=rm; $x -rf .git src; printf over > a.txt',
  'g=git; printf three > a.txt; $g commit -qam three; $g update-ref -d refs/heads/main; mv a.txt b.txt',
] as const

/** A process is killed with SIGKILL at a random moment of a command, an undo or a redo; the next one continues. */
export async function runUndoKills(parent: string, seed: number, n: number): Promise<UndoKills> {
  const folder = await mkdtemp(join(parent, 'undo-kill-'))
  const script = await bundleScript(new URL('undo-kill-child.ts', import.meta.url), folder)
  const trials = new Trials(folder, script, random(seed))
  for (let i = 0; i < n; i += 1) await trials.run(i)
  if (trials.violations.length === 0) await rm(folder, { recursive: true })
  return trials
}

class Trials implements UndoKills {
  readonly violations: string[] = []
  readonly moments = { before: 0, within: 0, after: 0 }
  readonly #folder: string
  readonly #script: string
  readonly #chance: Random
  /** How long each act took without a kill. */
  readonly #durations = new Map<string, number>()

  constructor(folder: string, script: string, chance: Random) {
    this.#folder = folder
    this.#script = script
    this.#chance = chance
  }

  async run(i: number): Promise<void> {
    const root = join(this.#folder, String(i))
    const act = ACTS[i % ACTS.length] ?? 'turn'
    const command = COMMANDS[Math.floor(i / ACTS.length) % COMMANDS.length] ?? ''
    const complain = (text: string) =>
      this.violations.push(`trial ${i}, ${act}, ${command}: ${text}`)
    try {
      await this.#trial(root, act, command, complain)
      if (!this.violations.some((text) => text.startsWith(`trial ${i},`)))
        await rm(root, { recursive: true })
    } catch (error) {
      complain(String(error))
    }
  }

  async #trial(
    root: string,
    act: Act,
    command: string,
    complain: (text: string) => void,
  ): Promise<void> {
    const workspace = join(root, 'workspace')
    await mkdir(workspace, { recursive: true })
    execFileSync('bash', ['-ec', BUILD], { cwd: workspace, stdio: 'ignore' })
    const id = await within(root, undefined, async (session) => {
      value(await value(await session.admit('Who are you?')).done)
      return session.id
    })
    const before = await listing(workspace)
    if (act === 'undo' || act === 'redo')
      await within(root, id, async (session) => {
        value(await value(await session.admit(`Run \`${command}\``)).done)
      })
    const changed = await listing(workspace)
    if (act === 'redo') await within(root, id, async (session) => value(await session.undo()))

    await this.#killed(root, { id, act, text: command })
    const now = await listing(workspace)
    const [from, to] = act === 'undo' ? [changed, before] : [before, changed]
    if (act === 'undo' || act === 'redo') {
      this.#note(now, from, to)
      for (const [path, is] of now)
        if (![from.get(path), to.get(path)].includes(is) && !isTemporary(path))
          complain(`${path} is ${is}`)
    } else this.#note(now, before, undefined)

    await within(root, id, async (session) => {
      if (act === 'redo') await again(session, 'redo', same(now, changed))
      // A command that changed nothing has nothing to undo.
      if (act === 'undo' || act === 'redo' || !same(now, before))
        await again(session, 'undo', act === 'undo' && same(now, before))
      expectSame(await listing(workspace), before, 'after undo', complain)
      if (value(await session.diff()).files.length > 0) complain('diff shows what is undone')
      const done = act === 'undo' || act === 'redo' ? changed : now
      if (same(done, before)) return
      const redone = await session.redo()
      if (!redone.ok) return complain(`redo: ${redone.error.message}`)
      expectSame(await listing(workspace), done, 'after redo', complain)
      value(await session.undo())
      expectSame(await listing(workspace), before, 'after another undo', complain)
    })
    execFileSync('git', ['fsck', '--full'], { cwd: workspace, stdio: 'pipe' })
    for (const problem of await storeProblems(join(root, 'home', 'snapshots'), workspace))
      complain(problem)
  }

  async #killed(root: string, order: { id: SessionId; act: Act; text: string }): Promise<void> {
    const child = startChild(this.#script, { root, ...order })
    await child.waitFor(({ what }) => what === 'ready')
    const key = `${order.act} ${order.text}`
    const known = this.#durations.get(key)
    const began = performance.now()
    child.send('go')
    if (known === undefined) {
      // The first one of a kind is measured, and killed when it reports its end.
      await child.waitFor(({ what }) => what === 'done')
      this.#durations.set(key, performance.now() - began)
    } else await pause(known * this.#chance.next())
    const { complaint } = await child.kill()
    if (complaint !== '') throw new Error(complaint)
    while (await isRunning(root)) await pause(5)
  }

  #note(now: Listing, from: Listing, to: Listing | undefined): void {
    const is = same(now, from) ? 'before' : to !== undefined && same(now, to) ? 'after' : 'within'
    this.moments[is] += 1
  }
}

async function within<T>(
  root: string,
  id: SessionId | undefined,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { parts, close } = await openParts(root)
  const begin = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
  const harness = new Harness(parts)
  const session = value(id === undefined ? await harness.create(begin) : await harness.open(id))
  try {
    return await work(session)
  } finally {
    await session.close()
    await close()
  }
}

/** If the killed one was recorded, there may be nothing left to do. */
async function again(session: Session, act: 'undo' | 'redo', isDone: boolean): Promise<void> {
  const isRecorded =
    session.events.at(-1)?.type === 'files_restored' ||
    session.events.findLast(({ type }) => type === 'files_restored' || type === 'notice')?.type ===
      'files_restored'
  if (isDone && isRecorded) return
  const done = value(await session[act]())
  const left = done.files.filter(({ outcome }) => outcome !== 'restored')
  if (left.length > 0) throw new Error(`${act} leaves ${left.map(({ path }) => path).join(', ')}`)
}

type Listing = ReadonlyMap<string, string>

/** Every file with kind, mode and content; of git only what says where branches are. */
async function listing(workspace: string): Promise<Listing> {
  const found = new Map<string, string>()
  for (const path of await readdir(workspace, { recursive: true })) {
    if (/^\.hawser(?:\/|$)|^\.git\/objects|\.lock$/.test(path) || isTemporary(path)) continue
    const at = join(workspace, path)
    const facts = await lstat(at).catch(() => undefined)
    if (facts === undefined) continue
    const mode = (facts.mode & 0o777).toString(8)
    if (facts.isSymbolicLink()) found.set(path, `to ${await readlink(at)}`)
    else if (facts.isDirectory()) found.set(path, `folder ${mode}`)
    else if (facts.isFile()) found.set(path, `${mode} ${(await readFile(at)).toString('base64')}`)
  }
  return found
}

function isTemporary(path: string): boolean {
  return /(?:^|\/)\.hawser-[0-9a-f-]+\.tmp$/.test(path)
}

function same(one: Listing, other: Listing): boolean {
  return one.size === other.size && [...one].every(([path, is]) => other.get(path) === is)
}

function expectSame(
  is: Listing,
  expected: Listing,
  when: string,
  complain: (text: string) => void,
): void {
  const paths = new Set([...is.keys(), ...expected.keys()])
  const wrong = [...paths].filter((path) => is.get(path) !== expected.get(path))
  if (wrong.length > 0) complain(`${when}, these differ: ${wrong.slice(0, 5).join(', ')}`)
}

/** Whether a process that was started for this place is left. */
async function isRunning(root: string): Promise<boolean> {
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command.includes(`${root}/`) || command.includes(`${root}"`)) return true
  }
  return false
}
