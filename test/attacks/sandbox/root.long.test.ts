import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { CREDENTIAL_ATTACKS } from './root-credentials.ts'
import { SOCKET_ATTACKS } from './root-sockets.ts'

/**
 * What a sandbox shows of the machine. As root, the attacks run on a private system: an /etc with a canary at
 * every entry of the table, and in-memory folders over those that contain sockets.
 */

const ATTACKS = [...CREDENTIAL_ATTACKS, ...SOCKET_ATTACKS]
const isRoot = process.getuid?.() === 0
const USERS = isRoot ? ['root', 'nobody'] : ['this user']
const { isConfined } = await systemSandbox().status()
const LONGEST_MS = 300_000

const Verdict = z.object({ name: z.string(), through: z.string().optional() })

describe.each(USERS)('as %s', (user) => {
  const verdicts = new Map<string, string>()

  beforeAll(async () => {
    if (!isConfined) return
    const output = await attackAs(user)
    for (const line of output.trim().split('\n')) {
      const { name, through = 'nothing got through' } = Verdict.parse(JSON.parse(line))
      verdicts.set(name, through)
    }
  }, LONGEST_MS)

  test.runIf(isConfined).each(ATTACKS.map(({ name }) => [name] as const))('%s', (name) => {
    expect(verdicts.get(name)).toBe('nothing got through')
  })
})

async function attackAs(user: string): Promise<string> {
  const script = await bundleScript(new URL('root-child.ts', import.meta.url), await freshFolder())
  if (!isRoot) return attackAtHome(script)
  const become = user === 'nobody' ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : ''
  const commands = `
    mount -t tmpfs -o mode=755 none /mnt && cp "$1" /mnt/child.mjs && mkdir -m 1777 /mnt/r && cp -a /etc /mnt/etc &&
    chmod 1777 /mnt/etc && mount --bind /mnt/etc /etc && cd / &&
    for f in /root /srv /opt /run /var/tmp /tmp /dev/shm; do mount -t tmpfs -o mode=1777 none $f; done
    chmod 700 /root; exec ${become} "$0" /mnt/child.mjs /mnt/r own`
  const own = ['--mount', '--propagation', 'private', 'sh', '-c', commands]
  return outputOf('unshare', [...own, process.execPath, script])
}

async function attackAtHome(script: string): Promise<string> {
  const folder = await mkdtemp(join(homedir(), '.hawser-root-'))
  try {
    await cp(script, join(folder, 'child.mjs'))
    await mkdir(join(folder, 'r'))
    return await outputOf(process.execPath, [join(folder, 'child.mjs'), join(folder, 'r')])
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
