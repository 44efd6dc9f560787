import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { methods } from '@agentclientprotocol/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { acpPlace } from '../../support/presenters/acp-editor.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { localServer } from '../../support/http/local-server.ts'
import { filling, socketAnswer } from '../../support/pressure/pressed-place.ts'
import { socketServer } from '../../support/providers/socket-server.ts'
import { turn, watch } from '../../support/http/stream-client.ts'

const MODEL = 'gpt-5.2'
const WINDOW = 60_000
const CODE = 'preflight_fruitless'
const SAID =
  /The context window is 92\.0 % full \(55,200 of 60,000 tokens\), and a compaction would not make enough room, so there was none\. The next request has \d+ KiB: instructions and tools \d+ KiB, /

/** A Session that is nearly full although its conversation is short. */
async function full() {
  const root = await freshFolder()
  const [workspace, home] = [join(root, 'workspace'), join(root, 'home')]
  await mkdir(workspace)
  await mkdir(home, { mode: 0o700 })
  const server = await socketServer({ answer: () => socketAnswer(filling(0.92)) })
  onTestFinished(() => server.close())
  const config = {
    model: MODEL,
    models: { [MODEL]: { window_tokens: WINDOW } },
    providers: { openai: { key: CANARY_KEY, base_url: server.baseUrl, transport: 'websocket' } },
  }
  await writeFile(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
  const place = { root, env: { HAWSER_PROVIDER: 'openai' } }
  const begun = await runCli(place, 'run', 'One.', '--json')
  expect([begun.code, begun.stdout]).toEqual([0, expect.not.stringContaining(CODE)])
  const id = /ses_\w+/.exec(begun.stdout)?.[0] ?? ''
  return { place, root, workspace, id }
}

const CRITICAL = expect.objectContaining({
  tier: 'critical',
  window_tokens: WINDOW,
  next_actions: expect.arrayContaining([
    { action: expect.stringContaining('Start a new Session') },
  ]),
})

test('[PC-054] `run` says once that a preflight was fruitless', async () => {
  const { place } = await full()
  const said = await runCli(place, 'run', '--continue', 'Two.')
  expect([said.code, said.stderr]).toEqual([0, expect.stringMatching(SAID)])
  const again = await runCli(place, 'run', '--continue', 'Three.')
  expect([again.code, again.stderr]).toEqual([0, expect.not.stringMatching(SAID)])
})

test('[PC-054] `run --json` has a fruitless preflight as a notice and as pressure', async () => {
  const { place } = await full()
  const { stdout } = await runCli(place, 'run', '--continue', 'Two.', '--json')
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
  expect(lines).toContainEqual(
    expect.objectContaining({
      type: 'notice',
      data: { code: CODE, text: expect.stringMatching(SAID) },
    }),
  )
  expect(lines).toContainEqual(
    expect.objectContaining({ type: 'context_pressure', data: CRITICAL }),
  )
})

test('[PC-054] over HTTP, a fruitless preflight is `context:pressure`, and a watcher also gets its Event', async () => {
  const { root, id } = await full()
  const server = await localServer({ root })
  const watching = await watch(server, id, 0)
  const stream = await turn(server, id, 'Two.')
  await stream.ended
  await watching.until(() => watching.names.includes('process:exit'))
  for (const client of [stream, watching])
    expect(client.of('context:pressure')).toContainEqual(CRITICAL)
  expect(watching.of('log:event')).toContainEqual(
    expect.objectContaining({
      type: 'notice',
      data: { code: CODE, text: expect.stringMatching(SAID) },
    }),
  )
})

test.each([[{ session: { notices: {} } }], [{}]])(
  '[PC-054] an editor with the capabilities %j gets a notice about a fruitless preflight',
  async (capabilities) => {
    const { root, workspace: cwd, id } = await full()
    const { editor } = await acpPlace({ root, capabilities })
    await editor.agent.request(methods.agent.session.load, { sessionId: id, cwd, mcpServers: [] })
    editor.updates.splice(0)
    await editor.prompt(id, 'Two.')
    expect(JSON.stringify(editor.updates)).toMatch(SAID)
  },
)
