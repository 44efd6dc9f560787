import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { watchNetworkTries } from './network-tries.ts'
import { systemSandbox, type ConfinedCommand } from './sandbox.ts'

const system = systemSandbox()
const { isConfined } = await system.status()

/** Reserved for documentation (RFC 5737): no network routes it. */
const CONNECT = 'exec 3<>/dev/tcp/192.0.2.1/80'

async function run(script: string, more: Partial<ConfinedCommand> = {}, workspace?: string) {
  const place = {
    workspace: workspace ?? (await freshFolder()),
    home: await freshFolder(),
    writable: 'workspace',
    protectedPaths: [],
  } as const
  let tries = 0
  const exit = await system.runConfined(place)({
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

describe.skipIf(!isConfined)('in a sandbox without network access', () => {
  test.each([
    ['an IP address', CONNECT],
    ['the same address several times', `for i in 1 2 3 4 5; do ${CONNECT}; done`],
    ['an address from a nested process', `bash -c '(${CONNECT})'`],
    ['a host name', 'getent hosts example.invalid'],
    ['UDP', 'echo x > /dev/udp/192.0.2.1/53'],
  ])(
    'an attempt to reach %s is reported once, and the command continues',
    async (_title, script) => {
      // The `read` keeps the shortest scripts alive long enough for one poll.
      const tried = await run(`${script}; read -t 0.2 < <(sleep 1); exit 7`)
      expect(tried).toEqual({ tries: 1, code: 7, tried: true })
    },
  )

  test('the attempt is reported while the command is still running', async () => {
    const workspace = await freshFolder()
    const report = { onNetworkTry: () => void writeFile(join(workspace, 'reported'), '') }
    const { code, tried } = await run(
      `${CONNECT}; until [ -e reported ]; do sleep 0.01; done; exit 3`,
      report,
      workspace,
    )
    expect([code, tried]).toEqual([3, true])
  })

  test.each([
    ['nothing', 'true'],
    ['this machine', 'exec 3<>/dev/tcp/127.0.0.1/9'],
    ['files', 'ls / > /dev/null'],
  ])('a command that uses %s is not reported', async (_title, script) => {
    expect(await run(`${script}; true`)).toEqual({ tries: 0, code: 0, tried: false })
  })

  test('with network access nothing is reported', async () => {
    expect(await run('true', { network: true })).toEqual({ tries: 0, code: 0, tried: false })
  })
})

test('watching a process that has ended, or that shares our network, reports nothing', () => {
  for (const pid of [process.pid, 2 ** 22 + 1]) {
    const watch = watchNetworkTries(pid, () => {
      throw new Error('nothing was tried')
    })
    expect([watch.end(), watch.end()]).toEqual([false, false])
  }
})
