import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { methods } from '@agentclientprotocol/sdk'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { openWorkspace, type EphemeralEvent } from '../../../src/index.ts'
import { acpPlace } from '../../support/presenters/acp-editor.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { localServer } from '../../support/http/local-server.ts'
import { filling, socketAnswer } from '../../support/pressure/pressed-place.ts'
import { socketServer } from '../../support/providers/socket-server.ts'
import { turn, watch } from '../../support/http/stream-client.ts'
import { value } from '../../support/log/story.ts'
import { filler } from '../../support/pressure/talk.ts'

const MODEL = 'gpt-5.2'
const WINDOW = 60_000
const TRIGGER = 'websocket_critical_recovery'
const QUESTION = 'And then?'
const ANSWER = 'The tide turns at noon, and the harbour is quiet until the evening. '.repeat(4)

/**
 * A Session whose last call was critical. Its preflight was undone, so none is repeated, and the socket fails during the
 * next answer, which arrives on another one.
 */
async function failing() {
  const root = await freshFolder()
  const [workspace, home] = [join(root, 'workspace'), join(root, 'home')]
  await mkdir(workspace)
  await mkdir(home, { mode: 0o700 })
  const answers = [
    filling(0.5),
    filling(0.92),
    filling(0.2),
    { answer: { text: ANSWER }, brokenAt: 0.6 },
    filling(0.2, { text: ANSWER }),
  ]
  const server = await socketServer({
    answer: (_request, n) => socketAnswer(answers[n] ?? 'overflow'),
  })
  onTestFinished(() => server.close())
  const config = {
    model: MODEL,
    models: { [MODEL]: { window_tokens: WINDOW } },
    providers: {
      openai: { key: CANARY_KEY, base_url: server.baseUrl, transport: 'websocket' },
    },
  }
  await writeFile(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
  const place = { root, env: { HAWSER_PROVIDER: 'openai' } }
  const seeds = [
    ['run', filler('the morning', 40_000)],
    ['run', '--continue', 'And now?'],
    ['run', '--continue', 'And today?'],
  ]
  for (const argv of seeds) expect(await runCli(place, ...argv)).toMatchObject({ code: 0 })
  const undone = await runCli(place, 'compact', '--undo', '--json')
  const { session_id: id } = Undone.parse(JSON.parse(undone.stdout))
  return { place, root, workspace, id }
}

const SEEDED_TURNS = 3
const Undone = z.looseObject({ session_id: z.string(), undone: z.looseObject({}) })

/** The live notice of the compaction. */
const RECOVERY = expect.objectContaining({
  tier: 'recovery',
  trigger: TRIGGER,
  compaction_event_id: expect.stringMatching(/^evt_/),
  window_tokens: WINDOW,
  ratio: expect.any(Number),
})

test('[PC-057] [PC-059] `run` says that the Session was compacted, and that the model answers again', async () => {
  const { place } = await failing()
  const { code, stdout, stderr } = await runCli(place, 'run', '--continue', QUESTION)
  expect([code, stdout]).toEqual([0, `${ANSWER}\n`])
  expect(stderr).toMatch(
    /^hawser: Compacted after a lost connection, because the window was nearly full: .*\nhawser: the connection failed during this answer; the model answers again\.$/m,
  )
})

test('[PC-057] [PC-059] `run --json` has the notices in order, and the partial answer as an Event', async () => {
  const { place } = await failing()
  const { stdout } = await runCli(place, 'run', '--continue', QUESTION, '--json')
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))
  const shown = lines.filter(({ type }) => SHOWN.has(type))
  expect(shown).toEqual([
    expect.objectContaining({ type: 'assistant_message', data: expect.objectContaining(PARTIAL) }),
    expect.objectContaining({ type: 'history_compaction' }),
    expect.objectContaining({ type: 'context_pressure', data: RECOVERY }),
    expect.objectContaining({ type: 'stream_restarted', data: { reason: TRIGGER } }),
    expect.objectContaining({ type: 'assistant_message', data: { text: ANSWER } }),
  ])
})

const Line = z.looseObject({ type: z.string(), data: z.looseObject({}).optional() })
const SHOWN = new Set([
  'assistant_message',
  'history_compaction',
  'context_pressure',
  'stream_restarted',
])
const PARTIAL = { partial: true }

test('[PC-057] [PC-059] over HTTP, the stream of the Turn and a watcher get both notices', async () => {
  const { root, id } = await failing()
  const server = await localServer({ root })
  const watching = await watch(server, id, 0)
  const stream = await turn(server, id, QUESTION)
  await stream.ended
  await watching.until(() => watching.names.includes('process:exit'))
  for (const client of [stream, watching]) {
    expect(client.of('context:pressure')).toContainEqual(RECOVERY)
    expect(client.of('chat:restart')).toMatchObject([{ reason: TRIGGER }])
    const complete = client.of('chat:complete').slice(-2)
    expect(complete).toMatchObject([PARTIAL, { text: ANSWER }])
    const names = client.names.filter((name) => name.startsWith('chat:'))
    const at = names.indexOf('chat:restart')
    expect([names[at - 1], names.at(-1)]).toEqual(['chat:complete', 'chat:complete'])
  }
})

test('[PC-057] [PC-059] a program gets both notices from the stream of its Session', async () => {
  const { root, workspace: path, id } = await failing()
  const workspace = value(await openWorkspace(path, { home: join(root, 'home'), env: {} }))
  onTestFinished(() => workspace.close())
  const session = value(await workspace.resume(id))
  const notices: EphemeralEvent[] = []
  const reading = (async () => {
    let ended = 0
    for await (const update of session.stream({ after_seq: -1 })) {
      if (update.kind === 'ephemeral') notices.push(update.ephemeral)
      if (update.kind === 'event' && update.event?.type === 'turn_ended') ended += 1
      if (ended === SEEDED_TURNS + 1) return
    }
  })()
  const { done } = value(await session.admit(QUESTION))
  expect(value(await done)).toMatchObject({ status: 'completed', text: ANSWER })
  await reading
  const dataOf = (wanted: string) =>
    notices.flatMap(({ type, data }) => (type === wanted ? [data] : []))
  expect(dataOf('context_pressure')).toContainEqual(RECOVERY)
  expect(dataOf('stream_restarted')).toEqual([{ reason: TRIGGER }])
})

test('[PC-057] [PC-059] an editor gets the compaction, the new size and the notice of the repeated call', async () => {
  const { root, workspace: cwd, id } = await failing()
  const capabilities = { session: { notices: {}, compaction: {} } }
  const { editor } = await acpPlace({ root, capabilities })
  const params = { sessionId: id, cwd, mcpServers: [] }
  await editor.agent.request(methods.agent.session.load, params)
  editor.updates.splice(0)
  await editor.prompt(id, QUESTION)
  const [compaction] = editor.of('compaction_update')
  const hawser = RECOVERY
  expect(compaction).toMatchObject({ status: 'completed', _meta: { hawser: { trigger: TRIGGER } } })
  expect(editor.of('usage_update')[0]).toMatchObject({ size: WINDOW, _meta: { hawser } })
  expect(editor.of('notice')).toMatchObject([
    { severity: 'warning', title: expect.stringContaining('requested again') },
  ])
})
