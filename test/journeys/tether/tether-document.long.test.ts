import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { ERROR_RESPONSES } from '../../../src/presenters/http/exchange/error-table.ts'
import { guestProgram, removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { localServer } from '../../support/http/local-server.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true
const document = await readFile(new URL('../../../docs/tether.md', import.meta.url), 'utf8')

test.runIf(canNest)('the examples in docs/tether.md work as they are written', async () => {
  const all = [...document.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text)
  // This server is not `hawser up`, which the commands would start.
  const blocks = all.filter((text) => !text.startsWith('hawser '))
  const { root, workspace } = await localServer({ program: await guestProgram() })
  const env = { PATH: process.env['PATH'], HAWSER_HOME: join(root, 'home') }
  const script = blocks.join('echo\n')
  const run = promisify(execFile)('bash', ['-eu', '-c', script], { cwd: workspace, env })
  const { stdout } = await run
  const [answered = '', ...streams] = stdout.split(/retry: 1000$/m)
  const answers = answered.split(/(?<=\})\n*(?=\{"ok")/).map((line): unknown => JSON.parse(line))
  expect(answers).toMatchObject([
    { ok: true, handle: 'painter', state: 'stopped' },
    { ok: true, workspace: expect.stringContaining('/instances/') as string },
    { ok: true, msg_id: 'm1', ingress_seq: 1 },
    { ok: true, frames: [{ type: 'assistant.done', in_reply_to: 'm1' }] },
  ])
  expect(streams).toEqual([
    expect.stringMatching(/id: 1\nevent: frame\n.*"type":"assistant.done"/s),
  ])
})

test('docs/tether.md names the status of each error', () => {
  const rows = [...document.matchAll(/^\| (\d{3}) \| ((?:`\w+`(?:, )?)+) \|/gm)]
  const named = rows.flatMap(([, code, kinds = '']) =>
    [...kinds.matchAll(/\w+/g)].map(([kind]) => [kind, Number(code)] as const),
  )
  const known = new Map(Object.entries(ERROR_RESPONSES).map(([kind, one]) => [kind, one.status]))
  expect(named.length).toBeGreaterThan(12)
  expect(named.filter(([kind, code]) => known.get(kind) !== code)).toEqual([])
})
