import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { bundleScript } from '../support/bundled-script.ts'
import { freshFolder } from '../support/folder.ts'
import { FILE_ATTACKS } from './sandbox-files.ts'
import { POWER_ATTACKS } from './sandbox-powers.ts'

/**
 * Every attack, as root and as nobody, or as whoever runs the tests. The scene has to be where a sandbox shows it, which is
 * not where tests have their folders: root gets a disk in memory that nobody else sees, others use their home.
 */

const ATTACKS = [...POWER_ATTACKS, ...FILE_ATTACKS]
const isRoot = process.getuid?.() === 0
const USERS = isRoot ? ['root', 'nobody'] : ['this user']
const { confined } = await systemSandbox().status()
/** All of them take half a minute on two busy cores. */
const LONGEST_MS = 600_000

const Verdict = z.object({ row: z.int(), name: z.string(), through: z.string().optional() })

describe.each(USERS)('as %s', (user) => {
  const verdicts = new Map<string, string | undefined>()

  beforeAll(async () => {
    if (!confined) return
    const said = await attackAs(user)
    for (const line of said.trim().split('\n')) {
      const { name, through } = Verdict.parse(JSON.parse(line))
      verdicts.set(name, through ?? 'nothing got through')
    }
  }, LONGEST_MS)

  test.runIf(confined).each(ATTACKS.map(({ row, name }) => [row, name] as const))(
    'row %i: %s',
    (_, name) => {
      expect(verdicts.get(name)).toBe('nothing got through')
    },
  )
})

test('no two attacks have one name', () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length)
})

async function attackAs(user: string): Promise<string> {
  const script = await bundleScript(
    new URL('sandbox-child.ts', import.meta.url),
    await freshFolder(),
  )
  return isRoot ? attackOnOwnDisk(script, user) : attackAtHome(script)
}

async function attackOnOwnDisk(script: string, user: string): Promise<string> {
  const become = user === 'nobody' ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : ''
  const owner = user === 'nobody' ? 65_534 : 0
  const commands = `
    mount -t tmpfs -o mode=755 none /mnt && cp "$1" /mnt/child.mjs && mkdir "$2" && chown ${owner} "$2" && cd / &&
    exec ${become} "$0" /mnt/child.mjs "$2" 9<"$2"`
  const own = ['--mount', '--propagation', 'private', 'sh', '-c', commands]
  return outputOf('unshare', [...own, process.execPath, script, `/mnt/attacks-${process.pid}`])
}

async function attackAtHome(script: string): Promise<string> {
  const folder = await mkdtemp(join(homedir(), '.hawser-attacks-'))
  try {
    await cp(script, join(folder, 'child.mjs'))
    await mkdir(join(folder, 'scene'))
    const shell = [
      '-c',
      'exec "$0" "$1/child.mjs" "$1/scene" 9<"$1/scene"',
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
