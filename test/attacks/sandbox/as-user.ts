import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'

const isRoot = process.getuid?.() === 0

/** The users that attacks run as: root and `nobody`, or the user who runs the tests. */
export const USERS = isRoot ? ['root', 'nobody'] : ['this user']

/**
 * The output of that child, run as that user with a folder for its scene and one argument. The scene must be where
 * a sandbox shows it, unlike the folders of other tests: root gets a private in-memory disk, others
 * use their home directory.
 */
export async function attackAs(user: string, child: URL, order = ''): Promise<string> {
  const script = await bundleScript(child, await freshFolder())
  return isRoot ? attackOnOwnDisk(script, user, order) : attackAtHome(script, order)
}

async function attackOnOwnDisk(script: string, user: string, order: string): Promise<string> {
  const become = user === 'nobody' ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : ''
  const owner = user === 'nobody' ? '65534:65534' : '0:0'
  const commands = `
    mount -t tmpfs -o mode=755 none /mnt && cp "$1" /mnt/child.mjs && mkdir "$2" && chown ${owner} "$2" && cd / &&
    exec ${become} "$0" /mnt/child.mjs "$2" ${order} 9<"$2"`
  const own = ['--mount', '--propagation', 'private', 'sh', '-c', commands]
  return outputOf('unshare', [...own, process.execPath, script, `/mnt/attacks-${process.pid}`])
}

async function attackAtHome(script: string, order: string): Promise<string> {
  const folder = await mkdtemp(join(homedir(), '.hawser-attacks-'))
  try {
    await cp(script, join(folder, 'child.mjs'))
    await mkdir(join(folder, 'scene'))
    const shell = [
      '-c',
      `exec "$0" "$1/child.mjs" "$1/scene" ${order} 9<"$1/scene"`,
      process.execPath,
      folder,
    ]
    return await outputOf('sh', shell)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
