import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { ok } from '../../../src/model/errors.ts'
import { Output as TurnLine } from '../../../src/presenters/cli/render/turn-lines.ts'
import { responsesProvider } from '../../../src/providers/responses/stream.ts'
import type { Session } from '../../../src/session/session.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { runCli } from '../../support/cli/cli.ts'
import { DIALECTS, VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { harnessPlace, type HarnessPlace } from '../../support/session/harness-place.ts'
import { socketServer } from '../../support/providers/socket-server.ts'
import { value } from '../../support/log/story.ts'
import { sseOf, type VendorAnswer } from '../../support/providers/vendor-answer.ts'
import { vendorPlace } from '../../support/providers/vendor-place.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'
import { commandPlace } from '../../support/session/write-log.ts'

const WAYS = [...VENDOR_DIALECTS, 'websocket'] as const
type Way = (typeof WAYS)[number]

const LIMIT = {
  messages: 'max_tokens',
  responses: 'max_output_tokens',
  websocket: 'max_output_tokens',
  chat: 'length',
} as const

const HALF = { id: 'call_1', name: 'write', arguments: '{"path":"a.txt","cont' }

interface OpenSession {
  readonly place: HarnessPlace
  readonly session: Session
  /** Every body that the server received. */
  readonly bodies: () => string[]
}

/** A Session with a server on this machine that returns these answers in order. */
async function openSession(way: Way, answers: readonly VendorAnswer[]): Promise<OpenSession> {
  let n = 0
  const next = () => answers[n++] ?? { text: 'That is all.' }
  if (way !== 'websocket') {
    const server = await scriptedServer(() => ({ body: sseOf(way, next()) }))
    const place = await vendorPlace(server)
    const session = value(await place.harness.create({ provider: way, model: 'a-model' }))
    return { place, session, bodies: () => server.requests.map(({ bytes }) => bytes.toString()) }
  }
  const server = await socketServer({ answer: next })
  onTestFinished(() => server.close())
  const { baseUrl } = server
  const options = { key: CANARY_KEY, baseUrl, idleMs: 60_000, clock: systemClock }
  const provider = responsesProvider({ ...options, transport: 'websocket' })
  const place = await harnessPlace({
    model: {
      providerOf: async () => ok(provider),
      dialectOf: async () => ok(DIALECTS.responses),
      dialectNameOf: () => 'responses',
    },
    log: { secrets: [CANARY_KEY] },
  })
  const session = value(await place.harness.create({ provider: 'openai', model: 'a-model' }))
  return { place, session, bodies: () => server.requests.map(({ text }) => text) }
}

async function say(session: Session, text: string) {
  const ended = value(await value(await session.admit(text)).done)
  const { status, cut } = ended
  return { status, cut }
}

async function proven({ harness }: HarnessPlace, session: Session): Promise<void> {
  const { log, requests } = value(await harness.verify(session.id, { requests: true }))
  expect([log.damage, requests?.mismatches]).toEqual([undefined, []])
}

test.each(WAYS)(
  '%s: the Log records that an answer was truncated, and the next request says so',
  async (way) => {
    const stop = LIMIT[way]
    const { place, session, bodies } = await openSession(way, [{ text: 'Once upon a', stop }])
    const cut = { reason: 'output_limit', stop_reason: stop, lost_calls: 0 }
    expect(await say(session, 'Tell a story.')).toEqual({ status: 'completed', cut })
    expect(await say(session, 'Continue.')).toEqual({ status: 'completed', cut: undefined })
    const [, second = ''] = bodies()
    expect(second).toContain('Once upon a')
    expect(second).toContain('[The last answer was cut off at the output limit.]')
    await proven(place, session)
  },
)

test.each(WAYS)('%s: a truncated call never runs, and the next request says so', async (way) => {
  const stop = LIMIT[way]
  const { place, session, bodies } = await openSession(way, [
    { text: 'I write', calls: [HALF], stop },
  ])
  const cut = { reason: 'output_limit', stop_reason: stop, lost_calls: 1 }
  expect(await say(session, 'Write a file.')).toEqual({ status: 'completed', cut })
  const types = session.events.map(({ type }) => type)
  expect(types.filter((type) => type === 'tool_call' || type === 'tool_result')).toEqual([])
  await say(session, 'Continue.')
  expect(bodies()[1]).toContain('Incomplete tool calls that did not run: 1.')
  await proven(place, session)
})

test('a Turn continues after a truncated answer with complete calls, and a notice reports it', async () => {
  const read = { id: 'call_0', name: 'read', arguments: '{"path":"none.txt"}' }
  const answers = [{ calls: [read, HALF], stop: 'max_tokens' }, { text: 'Done.' }]
  const { place, session, bodies } = await openSession('messages', answers)
  expect(await say(session, 'Go.')).toEqual({ status: 'completed', cut: undefined })
  const notices = session.events.flatMap((e) => (e.type === 'notice' ? [e.data.code] : []))
  expect([notices, bodies().length]).toEqual([['answer_cut'], 2])
  await proven(place, session)
})

test('an answer that the provider paused is sent back unchanged and continued', async () => {
  const answers = [
    { reasoning: 'Hm.', text: 'First half,', stop: 'pause_turn' },
    { text: 'second.' },
  ]
  const { place, session, bodies } = await openSession('messages', answers)
  expect(await say(session, 'Go.')).toEqual({ status: 'completed', cut: undefined })
  const [first = '', second = '', ...more] = bodies()
  expect([more, second.includes('First half,'), second.includes('c2lnbmVk')]).toEqual([
    [],
    true,
    true,
  ])
  expect(first).not.toContain('First half,')
  await proven(place, session)
})

const CLI = {
  messages: { provider: 'anthropic', prefix: 'ANTHROPIC' },
  responses: { provider: 'openai', prefix: 'OPENAI' },
  chat: { provider: 'openai-chat', prefix: 'OPENAI' },
} as const

test.each(VENDOR_DIALECTS)(
  '%s: run reports a truncated answer, even with --quiet, and how to continue',
  async (dialect) => {
    const { root } = await commandPlace()
    const { provider, prefix } = CLI[dialect]
    const stop = LIMIT[dialect]
    let answer: VendorAnswer = { text: 'Once upon a', stop }
    const server = await scriptedServer(() => ({ body: sseOf(dialect, answer) }))
    onTestFinished(() => server.close())
    // The server does not accept sockets.
    await runCli({ root }, 'config', 'set', 'providers.openai.transport', 'http-sse')
    const env = {
      [`${prefix}_API_KEY`]: CANARY_KEY,
      [`${prefix}_BASE_URL`]: server.baseUrl(dialect),
    }
    const run = (...argv: string[]) =>
      runCli({ root, env }, 'run', 'Go.', '--provider', provider, '--model', 'a-model', ...argv)
    const words = await run('--quiet')
    expect([words.code, words.stdout]).toEqual([0, 'Once upon a\n'])
    expect(words.stderr).toMatch(
      /^hawser: The answer is incomplete: .*output limit \(\w+\)\.\nTry: hawser run --session ses_\w+ "Continue\."\n$/m,
    )
    const shown = await runCli({ root }, 'log', 'show', 'latest')
    expect(shown.stdout).toMatch(/turn_ended .*The answer is incomplete/)
    const exported = await runCli({ root }, 'log', 'export', 'latest')
    expect(exported.stdout).toContain('The answer is incomplete')
    for (const [given, code, lost_calls] of [
      [{ text: 'I write', calls: [HALF], stop }, 1, 1],
      [{ stop }, 1, 0],
      [{ text: 'Half', stop }, 0, 0],
    ] as const) {
      answer = given
      const { stdout, ...ran } = await run('--json')
      const last = TurnLine.parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''))
      expect(ran.code).toBe(code)
      expect(last).toMatchObject({
        ok: code === 0,
        status: 'completed',
        exit_code: code,
        cut: { reason: 'output_limit', stop_reason: stop, lost_calls },
      })
    }
  },
)
