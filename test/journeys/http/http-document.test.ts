import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { localServer } from '../../support/http/local-server.ts'

test('the examples in docs/http.md work as they are written', async () => {
  const document = await readFile(new URL('../../../docs/http.md', import.meta.url), 'utf8')
  const blocks = [...document.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text)
  const { origin, root, workspace } = await localServer()
  const script = blocks.join('echo\n').replace(/^HAWSER=.*$/m, `HAWSER=${origin}`)
  const env = { PATH: process.env['PATH'], HAWSER_HOME: join(root, 'home') }
  const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', script], {
    cwd: workspace,
    env,
  })
  const [answered = '', ...streams] = stdout.split(/^retry: 1000$/m)
  const answers = answered.split(/(?<=\})\n?(?=\{"ok")/).map((line): unknown => JSON.parse(line))
  expect(answers).toMatchObject([
    { ok: true, limits: { attachment_bytes: 10 * 1024 * 1024 } },
    { ok: true, attachmentTypes: expect.arrayContaining(['.txt']) as string[] },
    { ok: true, session: { projectRoot: workspace } },
    { ok: true, sessions: [{ projectRoot: workspace }] },
    { ok: true, name: 'notes.txt', verdict: { accepted: true } },
    { ok: true, verdicts: [{ accepted: true, kind: 'text' }] },
  ])
  expect(streams).toEqual([
    expect.stringMatching(/event: session:init\n.*"notes.txt".*event: process:exit\n/s),
    expect.stringMatching(/id: 0\n.*event: user:message\n.*event: process:exit\n/s),
  ])
})
