import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  methods,
  type ClientCapabilities,
  type NewSessionResponse,
  type SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { catalogue } from '../../../src/providers/models/catalogue.ts'
import { acpProgram, newSession } from '../../support/presenters/acp-editor.ts'
import { acpPipes, HELLO, messagesIn } from '../../support/presenters/acp-pipes.ts'
import { errorOf } from '../../support/presenters/acp-errors.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { sseOf, type VendorAnswer } from '../../support/providers/vendor-answer.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'

const CLAUDE = catalogue({}).defaultOf('anthropic') ?? ''
const WINDOW = catalogue({}).factsOf('anthropic', CLAUDE)?.window_tokens ?? 0

/** The environment of a program whose model answers as the test says, by the number of the request. */
async function modelEnv(answer: (n: number) => VendorAnswer | Promise<VendorAnswer>) {
  let n = -1
  const server = await scriptedServer(async () => {
    n += 1
    return { body: sseOf('messages', await answer(n)) }
  })
  onTestFinished(() => server.close())
  return {
    HAWSER_PROVIDER: 'anthropic',
    ANTHROPIC_API_KEY: CANARY_KEY,
    ANTHROPIC_BASE_URL: server.baseUrl('messages'),
  }
}

const PLAN = '{"entries":[{"content":"Cast off","status":"in_progress","priority":"high"}]}'
const NEARLY_FULL = "The model's window is nearly full. /compact makes room."
const COMMAND = '{"command":"echo one; touch here; until [ -e go ]; do sleep 0.1; done; echo two"}'

test.each<[string, ClientCapabilities, string[]]>([
  ['shows notices', { session: { notices: {} } }, [NEARLY_FULL]],
  ['shows none', {}, []],
])(
  'thoughts, a plan, output, usage and pressure arrive over pipes at a client that %s',
  async (_what, capabilities, notices) => {
    const env = await modelEnv((n) =>
      n === 0
        ? {
            reasoning: 'First the lines.',
            text: 'I cast off.',
            calls: [
              { id: 'c1', name: 'update_plan', arguments: PLAN },
              { id: 'c2', name: 'bash', arguments: COMMAND },
            ],
            usage: { input: 100, output: 10 },
          }
        : { text: 'Done.', usage: { input: Math.ceil(WINDOW * 0.85), output: 5 } },
    )
    const place = await acpProgram({ env, capabilities })
    const { editor, workspace } = place
    const id = await newSession(place)
    const running = editor.prompt(id, 'Cast off.')
    const isShown = () =>
      editor.of('tool_call_update').some(({ status, content }) => {
        return status === 'in_progress' && JSON.stringify(content).includes('one')
      })
    await editor.until(isShown)
    await mkdir(join(workspace, 'go'))
    expect(await running).toMatchObject({ stopReason: 'end_turn' })
    const thoughts = editor.of('agent_thought_chunk')
    const thought = thoughts.map(({ content }) => (content.type === 'text' ? content.text : ''))
    expect(thought.join('')).toBe('First the lines.')
    expect(new Set(thoughts.map(({ messageId }) => messageId?.replace(/^trn_\w+/, '')))).toEqual(
      new Set([':thought:1']),
    )
    expect(editor.of('plan')).toMatchObject([
      { entries: [{ content: 'Cast off', status: 'in_progress', priority: 'high' }] },
    ])
    expect(editor.of('tool_call_update').at(-1)).toMatchObject({
      toolCallId: 'c2',
      status: 'completed',
      content: [{ content: { text: expect.stringContaining('two') } }],
    })
    const used = editor.of('usage_update').map((one) => [one.used, one.size])
    expect(used[0]).toEqual([110, WINDOW])
    expect(used.at(-1)?.[0]).toBeGreaterThanOrEqual(WINDOW * 0.85)
    expect(editor.of('notice').map(({ title }) => title)).toEqual(notices)
    // A client without notices gets them as a message.
    const told = notices.length > 0 ? '' : `\n\n${NEARLY_FULL}`
    expect(editor.text).toBe(`I cast off.Done.${told}`)
  },
)

test('a reply of 10 MB arrives completely before the program ends', async () => {
  const line = 'The tide turns, and the log of the harbour says so.\n'
  // One answer has at most 2 MiB characters, so the reply has several.
  const text = line.repeat(Math.ceil(10_000_000 / 6 / line.length))
  const calls = [{ id: 'c1', name: 'update_plan', arguments: PLAN }]
  const env = await modelEnv((n) => (n < 5 ? { text, calls } : { text }))
  const { program, send, workspace } = await acpPipes(env)
  send(HELLO)
  send({ jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: workspace, mcpServers: [] } })
  await program.waitFor('"sessionId"')
  const [, sessionId = ''] = /"sessionId":"(ses_\w+)"/.exec(program.stdout()) ?? []
  const prompt = [{ type: 'text', text: 'Tell me everything.' }]
  send({ jsonrpc: '2.0', id: 3, method: 'session/prompt', params: { sessionId, prompt } })
  await program.waitFor('"stopReason"')
  program.child.stdin?.end()
  expect(await program.ended).toEqual({ code: 0, signal: null })
  const chunks = messagesIn(program).flatMap(({ params }) => {
    const { sessionUpdate, content } = params?.update ?? {}
    return sessionUpdate === 'agent_message_chunk' ? [content?.text ?? ''] : []
  })
  // Compared as lengths and a flag: a difference of 10 MB cannot be read.
  const all = chunks.join('')
  expect([all.length > 10_000_000, all === text.repeat(6)]).toEqual([true, true])
})

test('provider, model and effort are options that the next Turn uses', async () => {
  const env = await modelEnv(() => ({ text: 'Aye.' }))
  const place = await acpProgram({ env: { ...env, HAWSER_PROVIDER: 'rehearsal' } })
  const { editor, workspace } = place
  const { sessionId, configOptions } = await editor.agent.request<NewSessionResponse>(
    'session/new',
    { cwd: workspace, mcpServers: [] },
  )
  expect(configOptions?.map(({ id, currentValue }) => [id, currentValue])).toEqual([
    ['mode', 'ask'],
    ['provider', 'rehearsal'],
    ['model', 'rehearsal'],
    ['effort', 'default'],
  ])
  const set = async (configId: string, value: string) => {
    const params = { sessionId, configId, value }
    const method = methods.agent.session.setConfigOption
    const changed = await editor.agent.request<SetSessionConfigOptionResponse>(method, params)
    return changed.configOptions.map(({ currentValue }) => currentValue)
  }
  expect(await set('provider', 'anthropic')).toEqual(['ask', 'anthropic', CLAUDE, 'default'])
  const other = catalogue({})
    .rows()
    .find(({ provider, id }) => provider === 'anthropic' && id !== CLAUDE)
  expect(await set('model', other?.id ?? '')).toEqual(['ask', 'anthropic', other?.id, 'default'])
  expect(await set('effort', 'low')).toEqual(['ask', 'anthropic', other?.id, 'low'])
  const gpt = catalogue({}).defaultOf('openai') ?? ''
  expect(await errorOf(set('model', gpt))).toMatchObject({ data: { kind: 'model_not_found' } })
  expect(await editor.prompt(sessionId, 'Hello')).toMatchObject({ stopReason: 'end_turn' })
  expect(editor.text).toBe('Aye.')
  const log = await readFile(join(workspace, '.hawser', 'sessions', `${sessionId}.ndjson`), 'utf8')
  expect(log).toContain(`"model":"${other?.id}"`)
  expect(await set('provider', 'rehearsal')).toEqual(['ask', 'rehearsal', 'rehearsal', 'low'])
})

test('a compaction that a client cancels is answered with `cancelled`', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  await runCli({ root }, 'config', 'set', 'compaction.summary', 'model')
  let isAsked = () => {}
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const long = 'The tide turns, and the log of the harbour says so.\n'.repeat(4_000)
  const env = await modelEnv((n) => {
    if (n < 3) return { text: long, usage: { input: 50_000 * (n + 1), output: 50_000 } }
    isAsked()
    return new Promise(() => {})
  })
  const place = await acpProgram({ env, root })
  const { editor } = place
  const id = await newSession(place)
  for (let n = 0; n < 3; n += 1) await editor.prompt(id, `Message ${n}.`)
  const compacting = editor.prompt(id, '/compact')
  await asked
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: id })
  expect(await compacting).toMatchObject({ stopReason: 'cancelled' })
})
