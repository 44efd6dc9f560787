import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { identifyFolder } from '../../../src/host/files/folder-identity.ts'
import { sandboxArgs } from '../../../src/host/sandbox/bubblewrap/args.ts'
import { prepareSandbox } from '../../../src/host/sandbox/plan.ts'
import { findBubblewrap } from '../../../src/host/sandbox/proof/find-bubblewrap.ts'
import { systemSandbox, type Confinement } from '../../../src/host/sandbox/sandbox.ts'
import { ok } from '../../../src/model/errors.ts'
import { freshScene } from './folder-memories.ts'
import { SWAPS } from './folder-swaps.ts'

// Swaps the workspace of a command between the check and the mount, and while the command runs. Prints what happened.
const root = process.argv[2] ?? ''
const sandbox = systemSandbox()
const isRoot = process.getuid?.() === 0
const swaps = SWAPS.filter(
  ({ mounts, answers }) => (mounts !== true || isRoot) && answers === undefined,
)
const results: Record<string, unknown>[] = []

function sceneOf(component: string) {
  const scene = freshScene(root)
  const [workspace, home, target] = ['a/b', 'home', 'target'].map((name) => join(scene, name))
  if (workspace === undefined || home === undefined || target === undefined) throw new Error()
  const inTarget = component === 'a' ? join(target, 'b') : target
  for (const folder of [workspace, home, inTarget]) mkdirSync(folder, { recursive: true })
  const at = join(scene, component)
  const place: Confinement = { workspace, home, writable: 'workspace', protectedPaths: ['.env'] }
  return { scene, workspace, target, inTarget, at, place }
}

const command = (script: string, onOutput: (text: string) => void = () => {}) => ({
  argv: ['/bin/sh', '-c', script],
  wallMs: 60_000,
  signal: new AbortController().signal,
  onOutput: (chunk: Buffer) => onOutput(chunk.toString()),
})

const isOther = (name: string) => name !== 'a link to the folder itself'
const isTouched = (...folders: string[]) =>
  folders.some((folder) => existsSync(join(folder, 'mark')))

for (const { name, swap, undo } of swaps) {
  for (const component of ['a', 'a/b']) {
    const { workspace, target, inTarget, at, place } = sceneOf(component)
    let isSwapped = false
    const watching = async () => {
      if (!isSwapped) swap(at, target)
      isSwapped = true
      return ok(undefined)
    }
    const ran = await sandbox.runConfined({ ...place, watching })(command('echo x >mark'))
    const kind = ran.ok ? `ran ${ran.value.code}` : ran.error.kind
    results.push({
      moment: 'mount',
      name,
      component,
      kind,
      touched: isTouched(inTarget) || (isOther(name) && isTouched(workspace)),
    })
    undo?.(at)
  }
}

for (const component of ['a', 'a/b']) {
  const { scene, target, inTarget, at, place } = sceneOf(component)
  const identity = await identifyFolder(place.workspace)
  if (!identity.ok) throw new Error(identity.error.message)
  const own = `${at}.aside${component === 'a' ? '/b' : ''}`
  const run = sandbox.runConfined({ ...place, identity: identity.value })
  const script = 'echo ready; until [ -e go ]; do sleep 0.01; done; echo x >mark; echo x >.env'
  const ran = await run(
    command(script, (text) => {
      if (!text.includes('ready')) return
      renameSync(at, `${at}.aside`)
      symlinkSync(target, at)
      writeFileSync(join(inTarget, '.env'), '')
      writeFileSync(join(own, 'go'), '')
    }),
  )
  results.push({
    moment: 'run',
    component,
    kind: ran.ok ? `ran ${ran.value.code}` : ran.error.kind,
    touched: isTouched(inTarget) || !existsSync(join(inTarget, '.env')),
    own: isTouched(own),
  })
  const again = await run(command('echo x >mark'))
  results.push({
    moment: 'next',
    component,
    kind: again.ok ? 'ran' : again.error.kind,
    touched: isTouched(inTarget),
  })
  const bare = await sandbox.runUnconfined({ ...place, identity: identity.value })(
    command('echo x >mark'),
  )
  results.push({
    moment: 'unconfined',
    component,
    kind: bare.ok ? 'ran' : bare.error.kind,
    touched: isTouched(inTarget),
  })
  rmSync(scene, { recursive: true, force: true })
}

/** A worktree `ws` of the repository `r/main`, and in `target` another repository of the same names. */
function worktreeScene(component: string) {
  const scene = freshScene(root)
  const [workspace, home, git] = ['ws', 'home', 'r/main/.git'].map((name) => join(scene, name))
  if (workspace === undefined || home === undefined || git === undefined) throw new Error()
  const at = join(scene, component)
  const target = join(scene, 'target')
  const inTarget = join(target, relative(at, git))
  for (const folder of [git, inTarget]) {
    for (const name of ['objects', 'refs', 'worktrees/ws'])
      mkdirSync(join(folder, name), { recursive: true })
    const points = folder === git ? workspace : join(scene, 'elsewhere')
    writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(folder, 'config'), folder === git ? '' : OTHER_CONFIG)
    writeFileSync(join(folder, 'worktrees/ws/HEAD'), 'ref: refs/heads/b\n')
    writeFileSync(join(folder, 'worktrees/ws/commondir'), '../..\n')
    writeFileSync(join(folder, 'worktrees/ws/gitdir'), `${points}/.git\n`)
  }
  mkdirSync(join(inTarget, 'hooks'))
  writeFileSync(join(inTarget, 'hooks/pre-commit'), 'other', { mode: 0o755 })
  for (const folder of [workspace, home]) mkdirSync(folder)
  writeFileSync(join(workspace, '.git'), `gitdir: ${git}/worktrees/ws\n`)
  const place: Confinement = { workspace, home, writable: 'workspace', protectedPaths: [] }
  const otherGit = swapMoves(inTarget, git)
  return { scene, workspace, git, target, at, place, otherGit }
}

/** Where the other repository can be after a swap. */
function swapMoves(...folders: readonly string[]) {
  return () => folders.filter((folder) => readText(join(folder, 'config')) === OTHER_CONFIG)
}

const OTHER_CONFIG = '[core]\n\tfsmonitor = other\n'
const readText = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

for (const { name, swap, undo } of swaps.filter((one) => isOther(one.name))) {
  for (const component of ['r', 'r/main', 'r/main/.git']) {
    for (const moment of ['git mount', 'git run', 'git next'] as const) {
      const { scene, workspace, git, target, at, place, otherGit } = worktreeScene(component)
      let isSwapped = false
      const swapOnce = () => {
        if (!isSwapped) swap(at, target)
        isSwapped = true
      }
      if (moment === 'git next') swapOnce()
      const watching = async () => {
        if (moment === 'git mount') swapOnce()
        return ok(undefined)
      }
      const wait = moment === 'git run' ? 'echo ready; until [ -e go ]; do sleep 0.01; done; ' : ''
      const ran = await sandbox.runConfined({ ...place, watching })(
        command(`${wait}echo x >${git}/mark; true`, (text) => {
          if (!text.includes('ready')) return
          swapOnce()
          writeFileSync(join(workspace, 'go'), '')
        }),
      )
      const there = otherGit()
      const touched = there.length === 0 || there.some((folder) => isSpoiled(folder))
      const kind = ran.ok ? `ran ${ran.value.code}` : ran.error.kind
      results.push({ moment, name, component, kind, touched })
      undo?.(at)
      rmSync(scene, { recursive: true, force: true })
    }
  }
}

/** A command wrote to it, or something of it was moved away. */
function isSpoiled(folder: string): boolean {
  return (
    existsSync(join(folder, 'mark')) || readText(join(folder, 'hooks/pre-commit')) === undefined
  )
}

console.log(JSON.stringify({ results, naive: await naive(), uid: process.getuid?.() ?? 0 }))

/** Mounts the path without the check: what is there then is what the command changes. */
async function naive(): Promise<boolean> {
  const { at, target, inTarget, place } = sceneOf('a/b')
  const found = await findBubblewrap(
    { platform: process.platform, arch: process.arch },
    async () => '',
  )
  const bubblewrap = found.bubblewrap ?? {
    program: '/usr/bin/bwrap',
    disablesNamespaces: false,
    proc: 'own',
    machine: process.arch === 'arm64' ? 'arm64' : 'x64',
  }
  const prepared = await prepareSandbox({ bubblewrap, superuser: isRoot, env: {} }, place, {})
  if (!prepared.ok) throw new Error(prepared.error.message)
  renameSync(at, `${at}.aside`)
  symlinkSync(target, at)
  const [program, ...args] = sandboxArgs(prepared.value.plan, ['/bin/sh', '-c', 'echo x >mark'])
  spawnSync(program, args, { stdio: 'ignore' })
  return isTouched(inTarget)
}
