import { expect, onTestFinished, test } from 'vitest'
import { judgeModel } from '../../../src/session/settings/model-choice.ts'
import { catalogue } from '../../../src/providers/models/catalogue.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import { scriptedServer, type ScriptedAnswer } from '../../support/providers/vendor-server.ts'
import { commandPlace } from '../../support/session/write-log.ts'

const ROWS = catalogue({ mine: {} }).rows()
const CLAUDE = catalogue({}).defaultOf('anthropic') ?? ''

test('a known model is accepted, that of another provider is refused, an unknown one gets a warning', () => {
  const judge = (provider: string, model: string) => {
    const judged = judgeModel({ provider, model }, ROWS)
    return judged.ok ? judged.value : judged.error.kind
  }
  expect(judge('anthropic', CLAUDE)).toBeUndefined()
  expect(judge('anthropic', 'mine')).toBeUndefined()
  expect(judge('rehearsal', 'anything')).toBeUndefined()
  expect(judge('openai', CLAUDE)).toBe('model_not_found')
  expect(judge('rehearsal', CLAUDE)).toBe('model_not_found')
  expect(judge('openai-chat', CLAUDE)).toMatch(/not in the catalogue of provider openai-chat/)
  expect(judge('anthropic', 'haiku')).toMatch(/^Model "haiku" .* Did you mean claude-\S*haiku\S*/)
  expect(judge('anthropic', `${CLAUDE}x`)).toContain(`Did you mean ${CLAUDE}?`)
  expect(judge('anthropic', 'zzzzzzzzzzzz')).not.toContain('Did you mean')
})

const CLI = {
  messages: { provider: 'anthropic', prefix: 'ANTHROPIC' },
  responses: { provider: 'openai', prefix: 'OPENAI' },
  chat: { provider: 'openai-chat', prefix: 'OPENAI' },
} as const

async function vendor(dialect: keyof typeof CLI, answer: ScriptedAnswer) {
  const { root } = await commandPlace()
  const server = await scriptedServer(() => answer)
  onTestFinished(() => server.close())
  const { provider, prefix } = CLI[dialect]
  // The server does not accept sockets.
  await runCli({ root }, 'config', 'set', 'providers.openai.transport', 'http-sse')
  const env = { [`${prefix}_API_KEY`]: CANARY_KEY, [`${prefix}_BASE_URL`]: server.baseUrl(dialect) }
  const run = (...argv: string[]) => runCli({ root, env }, 'run', 'Go.', ...argv)
  return { run, provider, server, root }
}

const MISSING = {
  messages: { type: 'error', error: { type: 'not_found_error', message: 'model: odd' } },
  responses: { error: { message: 'The model does not exist.', code: 'model_not_found' } },
  chat: { error: { message: 'The model `odd` does not exist.', type: 'NotFoundError' } },
} as const

test.each(VENDOR_DIALECTS)(
  "%s: the vendor's 404 for a model is `model_not_found` with the next step, and is not retried",
  async (dialect) => {
    const body = JSON.stringify(MISSING[dialect])
    const { run, provider, server } = await vendor(dialect, { status: 404, body })
    const { code, stderr } = await run('--provider', provider, '--model', 'odd')
    expect([code, server.requests.length]).toEqual([1, 1])
    expect(stderr).toMatch(/^hawser: Model "odd" is not in the catalogue of provider/m)
    expect(stderr).toMatch(/^hawser: Model not found by the provider: .*\nTry: hawser models$/m)
    const json = await run('--provider', provider, '--model', 'odd', '--json')
    expect(json.stdout).toContain('"kind":"model_not_found"')
  },
)

test('the model of another provider is refused before anything is sent, also for a continued Session', async () => {
  const { run, server, root } = await vendor('responses', {
    body: sseOf('responses', { text: 'Hi.' }),
  })
  const fresh = await run('--provider', 'openai', '--model', CLAUDE, '--json')
  expect([fresh.code, failureOf(fresh)]).toMatchObject([
    1,
    { kind: 'model_not_found', details: { known_provider: 'anthropic' } },
  ])
  expect((await runCli({ root }, 'sessions')).stdout).not.toContain('ses_')
  expect((await run('--provider', 'openai', '--model', 'odd')).code).toBe(0)
  const again = await run('--continue', '--model', CLAUDE)
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('provider anthropic')])
  expect(server.requests.length).toBe(1)
})

test('config set warns of an unknown model, and stores it', async () => {
  const { root } = await commandPlace()
  const set = await runCli({ root }, 'config', 'set', 'model', 'haiku')
  expect([set.code, set.stderr]).toEqual([0, expect.stringMatching(/Did you mean claude-/)])
  expect((await runCli({ root }, 'config', 'set', 'model', CLAUDE)).stderr).toBe('')
})
