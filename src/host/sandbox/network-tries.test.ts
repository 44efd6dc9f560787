import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/folder.ts'
import { watchNetworkTries } from './network-tries.ts'
import { systemSandbox, type ConfinedCommand } from './sandbox.ts'

const system = systemSandbox()
const { confined } = await system.status()

/** An address that no network routes anywhere. */
const CONNECT = 'exec 3<>/dev/tcp/192.0.2.1/80'

async function run(script: string, more: Partial<ConfinedCommand> = {}, workspace?: string) {
  const place = {
    workspace: workspace ?? (await freshFolder()),
    home: await freshFolder(),
    writable: 'workspace',
    protectedPaths: [],
  } as const
  let tries = 0
  const exit = await system.confined(place)({
    argv: ['/bin/bash', '-c', script],
    wallMs: 60_000,
    signal: new AbortController().signal,
    onOutput: () => {},
    onNetworkTry: () => {
      tries += 1
    },
    ...more,
  })
  if (!exit.ok) throw new Error(exit.error.message)
  return { tries, code: exit.value.code, tried: exit.value.triedNetwork ?? false }
}

describe.skipIf(!confined)('in a sandbox without network', () => {
  test.each([
    ['an address', CONNECT],
    ['the same again and again', `for i in 1 2 3 4 5; do ${CONNECT}; done`],
    ['from a process of a process', `bash -c '(${CONNECT})'`],
    ['a name', 'getent hosts example.invalid'],
    ['UDP', 'echo x > /dev/udp/192.0.2.1/53'],
  ])('%s that is tried is noticed once, and the command goes on', async (_title, script) => {
    // The read makes bash wait a little for nothing, so that the shortest of them is not over before anyone can look.
    const tried = await run(`${script}; read -t 0.2 < <(sleep 1); exit 7`)
    expect(tried).toEqual({ tries: 1, code: 7, tried: true })
  })

  test('it is told at once, while the command still runs', async () => {
    const workspace = await freshFolder()
    const told = { onNetworkTry: () => void writeFile(join(workspace, 'told'), '') }
    const { code, tried } = await run(
      `${CONNECT}; until [ -e told ]; do sleep 0.01; done; exit 3`,
      told,
      workspace,
    )
    expect([code, tried]).toEqual([3, true])
  })

  test.each([
    ['nothing', 'true'],
    ['this machine', 'exec 3<>/dev/tcp/127.0.0.1/9'],
    ['files', 'ls / > /dev/null'],
  ])('a command that reaches for %s tries no network', async (_title, script) => {
    expect(await run(`${script}; true`)).toEqual({ tries: 0, code: 0, tried: false })
  })

  test('with the network nothing is watched', async () => {
    expect(await run('true', { network: true })).toEqual({ tries: 0, code: 0, tried: false })
  })
})

test('a process that is gone, or has our own network, is watched in vain and without harm', () => {
  for (const pid of [process.pid, 2 ** 22 + 1]) {
    const watch = watchNetworkTries(pid, () => {
      throw new Error('nothing was tried')
    })
    expect([watch.end(), watch.end()]).toEqual([false, false])
  }
})
