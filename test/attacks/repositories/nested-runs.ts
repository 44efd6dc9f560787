import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync } from 'node:fs'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { sandboxArgs } from '../../../src/host/sandbox/bubblewrap/args.ts'
import type { Confinement, RecordedPlace } from '../../../src/host/sandbox/confinement.ts'
import { inspectSince } from '../../../src/host/sandbox/inspect.ts'
import { prepareSandbox } from '../../../src/host/sandbox/plan.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { systemProgram } from '../../../src/host/process/system-program.ts'
import { openConfined } from '../../../src/host/files/confined-files.ts'
import { ok } from '../../../src/model/errors.ts'
import { treeHash } from '../../support/host/tree-hash.ts'
import {
  ALIASES,
  CANARY,
  DEPTHS,
  KINDS,
  OPERATIONS,
  pathAt,
  plant,
  plantingScript,
  programOf,
  quoted,
  SPELLINGS,
} from './nested-cases.ts'

/** How a command of an agent runs: in our sandbox, or in one that hides only the `.hawser` at the root. */
export type Way = 'ours' | 'naive'

export interface NestedRun {
  readonly tried: number
  /** One sentence for each case that got through. */
  readonly wrong: readonly string[]
}

interface Place {
  readonly workspace: string
  readonly home: string
}

const sandbox = systemSandbox()
const HOW: readonly Partial<Confinement>[] = [{}, { writable: 'nothing' }, { guest: true }]

/** How a command ends: by itself, with an error, or interrupted. */
const ENDS = ['', '\nexit 3', '\necho ready; cat']
/** The output of a command that read something. */
const SEEN = new RegExp(`${CANARY}|LISTED`)

/** Every operation on every existing entry: each spelling, kind and depth, for commands that may write or not, and guests. */
export async function attackExisting(root: string, way: Way): Promise<NestedRun> {
  const run = newRun()
  for (const name of SPELLINGS) {
    for (const kind of KINDS) {
      for (const how of way === 'ours' && kind === 'folder' ? HOW : [{}]) {
        const place = await freshPlace(root)
        const paths = DEPTHS.map((depth) => pathAt(depth, name))
        for (const path of paths) await plant(place.workspace, path, kind)
        const before = await hashes(place, paths)
        const script = inNode(programOf(Object.keys(OPERATIONS), paths))
        const { output } = await command(place, way, script, how)
        const after = await hashes(place, paths)
        paths.forEach((path, at) => {
          const what = `${kind} ${JSON.stringify(path)} ${JSON.stringify(how)}`
          run.judge(after[at] === before[at], `${what} was changed`)
        })
        run.judge(!SEEN.test(output), `${kind} ${JSON.stringify(name)} was read`)
      }
    }
  }
  return run
}

/** Each operation alone, in the sandbox that hides only the root: those that get through there. */
export async function naiveOperations(root: string): Promise<readonly string[]> {
  const through: string[] = []
  for (const operation of Object.keys(OPERATIONS)) {
    const place = await freshPlace(root)
    const [shallow, deep] = [pathAt(1, '.hawser'), pathAt(4, '.hawser')]
    for (const path of [shallow, deep]) await plant(place.workspace, path, 'folder')
    const before = await hashes(place, [shallow, deep])
    const { output } = await command(
      place,
      'naive',
      inNode(programOf([operation], [shallow, deep])),
    )
    const after = await hashes(place, [shallow, deep])
    if (SEEN.test(output) || before.join() !== after.join()) through.push(operation)
  }
  return through
}

/** Entries that a command creates itself, also if it is interrupted or fails. */
export async function plantDuring(root: string, way: Way): Promise<NestedRun> {
  const run = newRun()
  for (const name of SPELLINGS) {
    for (const end of way === 'ours' && name === '.hawser' ? ENDS : ['']) {
      const place = await freshPlace(root)
      const { script, paths } = plantingScript(name)
      const { appearedPaths } = await command(place, way, script + end)
      for (const path of paths) {
        const what = `${JSON.stringify(path)} after ${JSON.stringify(end)}`
        run.judge(!isThere(place, path), `${what} stayed`)
        run.judge(appearedPaths.includes(path), `${what} was not named`)
      }
    }
  }
  return run
}

/** A nested link in place of the folder: no command runs, whatever it may write. */
export async function refuseLinks(root: string): Promise<NestedRun> {
  const run = newRun()
  for (const name of SPELLINGS) {
    for (const depth of DEPTHS) {
      const place = await freshPlace(root)
      await plant(place.workspace, pathAt(depth, name), 'link')
      for (const how of HOW) {
        const ran = await command(place, 'ours', 'true', how).catch((error: unknown) => error)
        const refused = ran instanceof Error && ran.message.includes('is a symbolic link')
        run.judge(refused, `${JSON.stringify(pathAt(depth, name))} ${JSON.stringify(how)}`)
      }
    }
  }
  return run
}

/** Entries that another process of this home creates while a command runs, beside those that the command creates. */
export async function openDuring(root: string, self: string): Promise<NestedRun> {
  const run = newRun()
  const place = await freshPlace(root)
  execFileSync('mkfifo', [join(place.workspace, 'go')])
  const folders = DEPTHS.map((depth) => pathAt(depth, 'own', 'o'))
  const planted = DEPTHS.map((depth) => pathAt(depth, '.hawser', 'p'))
  const lines = planted.map((path) => `mkdir -p ${path}/sessions; chmod 700 ${path}`)
  for (const folder of folders) await mkdir(join(place.workspace, folder), { recursive: true })
  const script = `${lines.join('\n')}\necho ready; cat go; true`
  const { appearedPaths } = await command(place, 'ours', script, {}, async () => {
    for (const folder of folders) await openedBy(self, place, folder)
    const handle = await open(join(place.workspace, 'go'), 'w')
    await handle.close()
  })
  for (const folder of folders) {
    const settings = await readFile(join(place.workspace, folder, '.hawser/.gitignore'), 'utf8')
    run.judge(settings === '*\n', `${folder}/.hawser of another process was moved`)
  }
  for (const path of planted) {
    run.judge(!isThere(place, path) && appearedPaths.includes(path), `${path} stayed`)
  }
  return run
}

/** What is found after a command whose end was not observed. */
export async function findAfter(root: string, self: string): Promise<NestedRun> {
  const run = newRun()
  for (const name of SPELLINGS) {
    const place = await freshPlace(root)
    await plant(place.workspace, pathAt(2, name, 'old'), 'folder')
    let recorded: readonly RecordedPlace[] = []
    const watching = async (places: readonly RecordedPlace[]) => {
      recorded = places
      return ok(undefined)
    }
    await command(place, 'ours', 'true', { watching })
    const planted = DEPTHS.map((depth) => pathAt(depth, name, 'new'))
    for (const path of planted) await plant(place.workspace, path, 'folder')
    await mkdir(join(place.workspace, 'mine'))
    await openedBy(self, place, 'mine')
    const found = await inspectSince({ ...place, protectedPaths: [] }, recorded)
    const paths = found.ok ? found.value.map(({ path }) => path) : []
    for (const path of planted)
      run.judge(paths.includes(path), `${JSON.stringify(path)} was missed`)
    run.judge(paths.length === planted.length, `more was found: ${JSON.stringify(paths)}`)
  }
  return run
}

/** Every tool on every entry: by its path, by what is inside, and through a link. */
export async function attackByTools(root: string): Promise<NestedRun> {
  const run = newRun()
  for (const kind of [...KINDS, 'link'] as const) {
    const place = await freshPlace(root)
    const names = [...SPELLINGS, ...ALIASES]
    for (const name of names) {
      for (const depth of DEPTHS) await plant(place.workspace, pathAt(depth, name), kind)
    }
    const opened = await openConfined(place.workspace, { refuse: [] })
    if (!opened.ok) throw new Error(opened.error.message)
    const files = opened.value
    const bytes = Buffer.from('planted')
    for (const path of names.flatMap((name) => DEPTHS.map((depth) => pathAt(depth, name)))) {
      for (const at of [path, `${path}/config.json`, `${path}/sessions/new`, `x/../${path}`]) {
        const results = [
          await files.read(at, 100),
          await files.write(at, bytes, { expect: 'anything' }),
          await files.remove(at, { expect: 'anything' }),
          await files.list(at),
          await files.exists(at),
          await files.realRelative(at),
        ]
        const kinds = results.map((one) => (one.ok ? 'ok' : one.error.kind))
        const refused = kinds.every((one) => one === 'protected_path') && files.isProtected(at)
        run.judge(refused, `${kind} ${JSON.stringify(at)}: ${kinds.join()}`)
      }
    }
    await files.close()
  }
  return run
}

/** How many entries a sandbox hides at most. */
const MOST = 1_000

/**
 * Many entries: all that the sandbox can hide are hidden, those of this home first, also if only a few of them cannot be moved.
 * Changes of the others are named.
 */
export async function beyondTheLimit(root: string, self: string): Promise<NestedRun> {
  const run = newRun()
  for (const count of [60, MOST + 30]) {
    const place = await freshPlace(root)
    const others = Array.from({ length: count }, (_, at) => `n${at}/.hawser`)
    for (const path of others) await plant(place.workspace, path, 'folder')
    await mkdir(join(place.workspace, 'a/b/c/own'), { recursive: true })
    await openedBy(self, place, 'a/b/c/own')
    const all = ['a/b/c/own/.hawser', ...others]
    const script =
      'for h in n*/.hawser a/b/c/own/.hawser; do cat $h/sessions/*; echo x > $h/config.json; done; true'
    for (const how of [{}, { writable: 'nothing' }] as const) {
      const before = await hashes(place, all)
      const { output, runsLater } = await command(place, 'ours', script, how)
      const after = await hashes(place, all)
      const changed = all.filter((_, at) => before[at] !== after[at])
      const unhidden = Math.max(0, all.length - MOST)
      const canWrite = Object.keys(how).length === 0
      const what = `${JSON.stringify(how)} with ${count}`
      run.judge(!changed.includes(all[0] ?? ''), `${what}: that of this home was changed`)
      run.judge(
        changed.length === (canWrite ? unhidden : 0),
        `${what}: ${changed.length} were changed`,
      )
      run.judge(
        output.split(CANARY).length - 1 === unhidden,
        `${what}: more than ${unhidden} were read`,
      )
      const named = runsLater.toSorted().join()
      run.judge(changed.toSorted().join() === named, `${what}: named: ${named}`)
    }
  }
  return run
}

/** Folders with entries that are hidden but can be moved: what takes their place is moved away, and what was there stays hidden. */
export async function moveBeyondHeld(root: string): Promise<NestedRun> {
  const run = newRun()
  const place = await freshPlace(root)
  const paths = Array.from({ length: 60 }, (_, at) => `n${at}/.hawser`)
  for (const path of paths) await plant(place.workspace, path, 'folder')
  const script =
    'for d in n*; do mv $d $d-old && mkdir -p $d/.hawser; done; cat */.hawser/sessions/*; true'
  const before = await hashes(place, paths)
  const { output, appearedPaths } = await command(place, 'ours', script)
  run.judge(!SEEN.test(output), 'a Log was read')
  const kept = await hashes(place, paths)
  for (const [at, path] of paths.entries()) {
    const isMoved = kept[at] === 'gone'
    run.judge(
      isMoved ? appearedPaths.includes(path) : kept[at] === before[at],
      `${path} was replaced`,
    )
  }
  run.judge(kept.filter((one) => one === 'gone').length === 36, 'the nearest 24 were moved')
  return run
}

interface Seen {
  readonly output: string
  readonly appearedPaths: readonly string[]
  readonly runsLater: readonly string[]
}

/** Runs a script in the workspace. When it prints `ready`, `meanwhile` runs; without it the command is interrupted. */
async function command(
  place: Place,
  way: Way,
  script: string,
  how: Partial<Confinement> = {},
  meanwhile?: () => Promise<void>,
): Promise<Seen> {
  if (way === 'naive') return naiveCommand(place, script, how)
  const stop = new AbortController()
  let [output, waiting] = ['', Promise.resolve()]
  const ran = await sandbox.runConfined({
    ...place,
    writable: 'workspace',
    protectedPaths: [],
    keep: async (_path, content) => {
      for await (const _chunk of content);
      return ok(undefined)
    },
    ...how,
  })({
    argv: ['/bin/bash', '-c', script],
    wallMs: 60_000,
    signal: stop.signal,
    onOutput: (chunk) => {
      output += chunk.toString('latin1')
      if (!output.endsWith('ready\n')) return
      if (meanwhile === undefined) stop.abort()
      else waiting = meanwhile()
    },
  })
  await waiting
  if (!ran.ok) throw new Error(ran.error.message)
  return { output, ...ran.value }
}

/** A sandbox that hides the `.hawser` at the root and nothing else, without an inspection. */
async function naiveCommand(
  place: Place,
  script: string,
  how: Partial<Confinement>,
): Promise<Seen> {
  const program = (await systemProgram('bwrap')) ?? ''
  const bubblewrap = { program, disablesNamespaces: false, proc: 'shown', machine: 'x64' } as const
  const superuser = process.getuid?.() === 0
  const confinement = { ...place, writable: 'workspace', protectedPaths: [], ...how } as const
  const prepared = await prepareSandbox(
    { bubblewrap, superuser, env: process.env },
    confinement,
    {},
  )
  if (!prepared.ok) throw new Error(prepared.error.message)
  const { plan } = prepared.value
  const nested = (at: string) => at.startsWith(`${place.workspace}/`) && !at.endsWith('ws/.hawser')
  const mounts = plan.mounts.filter(({ at }) => !nested(at))
  const [file, ...args] = sandboxArgs({ ...plan, mounts }, ['/bin/bash', '-c', script])
  const options = { encoding: 'latin1', maxBuffer: 1e8 } as const
  const child = promisify(execFile)(file, args, options)
  child.child.stdin?.end()
  const output = await child.then(
    ({ stdout }) => stdout,
    () => '',
  )
  return { output, appearedPaths: [], runsLater: [] }
}

/** Opens a folder as a workspace in another process, by the code of the program. */
async function openedBy(self: string, { workspace, home }: Place, folder: string): Promise<void> {
  const argv = [self, home, 'open', join(workspace, folder)]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the other process ended with ${String(code)}`)
}

function inNode(program: string): string {
  return `${quoted(process.execPath)} -e ${quoted(program)}`
}

let made = 0

async function freshPlace(root: string): Promise<Place> {
  const folder = join(root, `place-${made++}`)
  const [workspace, home] = [join(folder, 'ws'), join(folder, 'home')]
  for (const path of [workspace, home]) await mkdir(path, { recursive: true, mode: 0o700 })
  await plant(workspace, '.hawser', 'folder')
  return { workspace, home }
}

function hashes({ workspace }: Place, paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map((path) => treeHash(join(workspace, path)).catch(() => 'gone')))
}

function isThere({ workspace }: Place, path: string): boolean {
  return lstatSync(join(workspace, path), { throwIfNoEntry: false }) !== undefined
}

function newRun() {
  const wrong: string[] = []
  let tried = 0
  return {
    get tried() {
      return tried
    },
    wrong,
    judge: (good: boolean, otherwise: string) => {
      tried += 1
      if (!good) wrong.push(otherwise)
    },
  }
}
