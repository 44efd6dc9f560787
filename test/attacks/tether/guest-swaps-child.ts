import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { identifyFolder } from '../../../src/host/files/folder-identity.ts'
import { liesIn } from '../../../src/host/files/confined-path.ts'
import { sandboxArgs } from '../../../src/host/sandbox/bubblewrap/args.ts'
import type { Confinement } from '../../../src/host/sandbox/confinement.ts'
import { prepareSandbox } from '../../../src/host/sandbox/plan.ts'
import { findBubblewrap } from '../../../src/host/sandbox/proof/find-bubblewrap.ts'
import { systemSandbox, type Sandbox } from '../../../src/host/sandbox/sandbox.ts'
import { ok } from '../../../src/model/errors.ts'
import { launchGuest, type GuestPlace } from '../../../src/tether/server/launch-guest.ts'
import { freshScene } from '../workspace/folder-memories.ts'
import { SWAPS } from '../workspace/folder-swaps.ts'

// Swaps the folders of a guest between the check and the mount, before it starts and while it runs. Prints what happened.
const root = process.argv[2] ?? ''
const sandbox = systemSandbox()
const isRoot = process.getuid?.() === 0
const swaps = SWAPS.filter(
  ({ mounts, answers }) => (mounts !== true || isRoot) && answers === undefined,
)
const results: Record<string, unknown>[] = []

const WORKSPACE = 'a/b'
const RECORDS = 'a/b/.hawser/instances/ins_1'
const OWN_HOME = 'home/instances/ins_1/home'
/** Every folder that leads to what a guest may write to. */
const COMPONENTS = [
  'a',
  WORKSPACE,
  'a/b/.hawser',
  'a/b/.hawser/instances',
  RECORDS,
  'home/instances',
  'home/instances/ins_1',
  OWN_HOME,
]

/** Leaves a mark in everything that it may write to. */
const MARKS = 'touch mark .hawser/mark "$HAWSER_HOME/mark"'

function sceneOf(component: string, script = MARKS) {
  const scene = freshScene(root)
  const [at, target] = [join(scene, component), join(scene, 'target')]
  for (const leaf of [WORKSPACE, RECORDS, OWN_HOME]) {
    const own = join(scene, leaf)
    mkdirSync(own, { recursive: true, mode: 0o700 })
    if (liesIn(own, at))
      mkdirSync(join(target, relative(at, own)), { recursive: true, mode: 0o700 })
  }
  const place: GuestPlace = {
    workspace: join(scene, WORKSPACE),
    home: join(scene, 'home'),
    ownHome: join(scene, OWN_HOME),
    records: join(scene, RECORDS),
    program: { argv: ['/bin/sh', '-c', script], readable: [] },
    onOutput: () => {},
  }
  return { scene, at, target, place }
}

/** The marks below a folder, without entering links. */
function marksIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return marksIn(path)
    return entry.name === 'mark' ? [path] : []
  })
}

/** Starts the guest, and waits for its end if it starts. */
async function launched(place: GuestPlace, starter: Pick<Sandbox, 'start'> = sandbox) {
  const started = await launchGuest(starter, place)
  if (!started.ok) return started.error.kind
  const { code } = await started.value.ending
  return `ran ${code}`
}

function swapping(act: () => void): Pick<Sandbox, 'start'> {
  let isSwapped = false
  const watching: Confinement['watching'] = async () => {
    if (!isSwapped) act()
    isSwapped = true
    return ok(undefined)
  }
  return { start: (confinement, program) => sandbox.start({ ...confinement, watching }, program) }
}

{
  // Nothing is swapped: it runs, and marks all three.
  const { scene, place } = sceneOf(WORKSPACE)
  const kind = await launched(place)
  results.push({ moment: 'control', component: '', kind, marks: marksIn(scene).length })
}

for (const { name, swap, undo } of swaps)
  for (const component of COMPONENTS) {
    const { scene, at, target, place } = sceneOf(component)
    const kind = await launched(
      place,
      swapping(() => swap(at, target)),
    )
    undo?.(at)
    results.push({ moment: 'mount', name, component, kind, marks: marksIn(scene).length })
    rmSync(scene, { recursive: true, force: true })
  }

for (const { name, swap, undo } of swaps)
  for (const component of ['a', WORKSPACE])
    for (const withoutSandbox of [false, true]) {
      const { scene, at, target, place } = sceneOf(component)
      const identity = await identifyFolder(place.workspace)
      if (!identity.ok) throw new Error(identity.error.message)
      swap(at, target)
      const kind = await launched({ ...place, identity: identity.value, withoutSandbox })
      undo?.(at)
      const moment = withoutSandbox ? 'unconfined' : 'start'
      results.push({ moment, name, component, kind, marks: marksIn(scene).length })
      rmSync(scene, { recursive: true, force: true })
    }

for (const component of ['a', WORKSPACE]) {
  const script = 'touch ready; until [ -e go ]; do sleep 0.01; done; touch mark .hawser/mark'
  const { scene, at, target, place } = sceneOf(component, script)
  const own = `${at}.aside${component === 'a' ? '/b' : ''}`
  const started = await launchGuest(sandbox, place)
  if (!started.ok) throw new Error(started.error.message)
  while (!readdirSync(place.workspace).includes('ready'))
    await new Promise((resolve) => void setTimeout(resolve, 10))
  renameSync(at, `${at}.aside`)
  symlinkSync(target, at)
  writeFileSync(join(own, 'go'), '')
  const { code } = await started.value.ending
  const marks = marksIn(target).length
  results.push({ moment: 'run', component, kind: `ran ${code}`, marks, own: marksIn(own).length })
  rmSync(scene, { recursive: true, force: true })
}

const naive = await Promise.all([WORKSPACE, RECORDS, OWN_HOME].map(marksWithoutCheck))
console.log(JSON.stringify({ results, naive, uid: process.getuid?.() ?? 0 }))

/** Mounts the paths without the check: what is there then is what the guest changes. */
async function marksWithoutCheck(component: string): Promise<number> {
  const { at, target, place } = sceneOf(component)
  const { bubblewrap } = await findBubblewrap(
    { platform: process.platform, arch: process.arch },
    async () => '',
  )
  const found = bubblewrap ?? {
    program: '/usr/bin/bwrap',
    disablesNamespaces: false,
    proc: 'own',
    machine: process.arch === 'arm64' ? 'arm64' : 'x64',
  }
  const { workspace, home, ownHome, records } = place
  const prepared = await prepareSandbox(
    { bubblewrap: found, superuser: isRoot, env: {} },
    {
      workspace,
      home,
      ownHome,
      records,
      writable: 'workspace',
      protectedPaths: [],
      guest: true,
    },
    {},
  )
  if (!prepared.ok) throw new Error(prepared.error.message)
  renameSync(at, `${at}.aside`)
  symlinkSync(target, at)
  const script = `cd '${workspace}'; HAWSER_HOME='${ownHome}'; ${MARKS}`
  const [program, ...args] = sandboxArgs(prepared.value.plan, ['/bin/sh', '-c', script])
  spawnSync(program, args, { stdio: 'ignore' })
  return marksIn(target).length
}
