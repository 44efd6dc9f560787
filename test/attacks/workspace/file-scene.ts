import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { chmod, link, mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openConfined, type ConfinedFiles } from '../../../src/host/files/confined-files.ts'
import { value } from '../../support/log/story.ts'

/** The content of every file that must not be read; showing it is a leak. */
export const CANARY = 'canary-7f3a'

/** A workspace full of traps, and its surroundings. */
export interface Scene {
  readonly base: string
  readonly workspace: string
  /** The parent of everything that no call may change. */
  readonly outside: string
  readonly files: ConfinedFiles
  /** Whether there are device files; only root can create them. */
  readonly devices: boolean
  readonly close: () => Promise<void>
}

export async function buildScene(base: string): Promise<Scene> {
  const outside = join(base, 'around')
  const workspace = join(outside, 'ws')
  await buildOutside(outside)
  await buildInside(workspace)
  await buildLinks(workspace)
  await link(join(outside, 'secret.txt'), join(workspace, 'hard-out'))
  execFileSync(
    'mkfifo',
    ['pipe', 'a.png', 'src/pipe'].map((name) => join(workspace, name)),
  )
  const devices = process.getuid?.() === 0 && makeDevices(workspace)
  await makeSocket(join(workspace, 'socket'))
  const late = join(outside, 'late')
  const own = ['.hawser', 'state', 'not-yet'].map((name) => join(workspace, name))
  const refuse = [...own, join(outside, 'home'), late]
  const files = value(await openConfined(workspace, { refuse }))
  // Only now is this folder known to be one of the scene: by its inode, because none of its names showed it.
  await symlink(join(workspace, 'found-late'), late)
  const close = async () => {
    await files.close()
    // So that it can be removed.
    await chmod(join(workspace, 'closed'), 0o700)
  }
  return { base, workspace, outside, files, devices, close }
}

async function buildOutside(outside: string): Promise<void> {
  for (const folder of ['ws-evil', 'dir/deep', 'home']) {
    await mkdir(join(outside, folder), { recursive: true })
  }
  for (const file of ['secret.txt', 'ws-evil/x', 'dir/deep/x', 'home/config.json']) {
    await writeFile(join(outside, file), CANARY)
  }
}

async function buildInside(workspace: string): Promise<void> {
  const folders = [
    'src/deep',
    '.hawser/sessions',
    'state',
    'found-late/sub',
    '.git/hooks',
    'closed',
  ]
  for (const folder of [...folders, 'd/'.repeat(140)]) {
    await mkdir(join(workspace, folder), { recursive: true })
  }
  const plain = ['README.md', 'src/a.ts', 'src/deep/b.ts', '.git/HEAD', 'twin', '-rf', 'ü.txt']
  for (const file of plain) await writeFile(join(workspace, file), `text of ${file}\n`)
  const own = ['.hawser/sessions/x', 'state/config.json', 'found-late/x', 'found-late/sub/x']
  for (const file of [...own, 'closed/x', 'unreadable']) {
    await writeFile(join(workspace, file), CANARY)
  }
  await link(join(workspace, 'twin'), join(workspace, 'hard-in'))
  await chmod(join(workspace, 'unreadable'), 0)
  await chmod(join(workspace, 'closed'), 0)
}

/** Name to target; `{ws}` is the workspace. */
const LINKS: Readonly<Record<string, string>> = {
  'leaf-in': 'README.md',
  'leaf-out': '../secret.txt',
  'leaf-abs': '{ws}/../secret.txt',
  'leaf-etc': '/etc/passwd',
  'leaf-self': 'leaf-self',
  'leaf-environ': '/proc/self/environ',
  'leaf-zero': '/dev/zero',
  'leaf-fd': '/proc/self/fd/0',
  'leaf-new': '../new.txt',
  'leaf-hawser': '.hawser/sessions/x',
  'dir-in': 'src',
  'dir-in-abs': '{ws}/src',
  'dir-chain': 'dir-in',
  'dir-dots': 'src/deep/..',
  'dir-odd': './/src/./deep/',
  'src/deep/in': '../../src',
  'dir-out': '..',
  'dir-out-dir': '../dir',
  'dir-out-abs': '{ws}/../dir',
  'dir-evil': '{ws}-evil',
  'dir-back': '../ws',
  'dir-chain-out': 'dir-out',
  'dir-dots-out': 'src/../..',
  'dir-etc': '/etc',
  'dir-root': '/',
  'dir-proc': '/proc/self',
  'dir-cwd': '/proc/self/cwd',
  'dir-procroot': '/proc/self/root',
  'dir-dev': '/dev',
  'dir-nowhere': 'missing',
  'dir-nowhere-out': '../new-dir',
  'src/up': '../..',
  'loop-a': 'loop-b',
  'loop-b': 'loop-a',
  'dir-hawser': '.hawser',
  'dir-hawser-abs': '{ws}/.hawser',
  'dir-state': 'state',
  'src/to-state': '../state/.',
  'dir-late': 'found-late',
  'dir-git': '.git',
  'dir-here': '.',
  'dir-long': 'src/../'.repeat(500),
  'src/to-new': '../not-yet',
  ...Object.fromEntries(
    Array.from({ length: 42 }, (_, i) => [`chain-${i}`, i === 0 ? 'src' : `chain-${i - 1}`]),
  ),
}

async function buildLinks(workspace: string): Promise<void> {
  for (const [name, target] of Object.entries(LINKS)) {
    await symlink(target.replace('{ws}', workspace), join(workspace, name))
  }
}

/** A socket without a listener. It is renamed, because closing a listener removes its name. */
async function makeSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}-1`)
  await once(server, 'listening')
  await rename(`${path}-1`, path)
  await once(server.close(), 'close')
}

function makeDevices(workspace: string): boolean {
  try {
    execFileSync('mknod', [join(workspace, 'device'), 'c', '1', '5'], { stdio: 'ignore' })
    execFileSync('mknod', [join(workspace, 'block'), 'b', '7', '0'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
