import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Anthropic } from '@anthropic-ai/sdk'
import { OpenAI } from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { Output } from '../../../src/presenters/cli/commands/rehearse.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram } from '../../support/cli/program.ts'

async function userPlace(): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  return root
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'the offline model serves every dialect as a separate process, until %s',
  async (signal) => {
    const program = await startProgram({ root: await userPlace() }, ['rehearse', '--json'])
    await program.waitFor('}\n')
    const output = Output.parse(JSON.parse(program.stdout()))
    const env = output.environment
    const anthropic = new Anthropic({
      apiKey: env['ANTHROPIC_API_KEY'] ?? '',
      baseURL: env['ANTHROPIC_BASE_URL'] ?? '',
      maxRetries: 0,
    })
    const openai = new OpenAI({
      apiKey: env['OPENAI_API_KEY'] ?? '',
      baseURL: env['OPENAI_BASE_URL'] ?? '',
      maxRetries: 0,
    })
    const ask = { role: 'user', content: 'Who are you?' } as const
    const message = await anthropic.messages.create({
      model: 'm',
      max_tokens: 500,
      messages: [ask],
    })
    const response = await openai.responses.create({ model: 'm', input: [ask] })
    const completion = await openai.chat.completions.create({ model: 'm', messages: [ask] })
    const texts = [
      message.content[0]?.type === 'text' ? message.content[0].text : '',
      response.output_text,
      completion.choices[0]?.message.content,
    ]
    expect(new Set(texts)).toEqual(
      new Set([expect.stringMatching(/I am the offline demo model/) as unknown]),
    )
    program.child.kill(signal)
    expect(await program.ended).toEqual({ code: 0, signal: null })
    expect(program.stderr()).toBe('')
  },
)

test('the output shows the address, how to use it, and every request', async () => {
  const program = await startProgram({ root: await userPlace() }, [
    'rehearse',
    '--cache-rate',
    '15',
  ])
  await program.waitFor('Switches:')
  const [, origin = ''] = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(program.stdout()) ?? []
  expect(program.stdout()).toContain(`export ANTHROPIC_BASE_URL=${origin}\n`)
  expect(program.stdout()).toContain(`export OPENAI_BASE_URL=${origin}/v1\n`)
  await fetch(`${origin}/v1/models`, { headers: { authorization: 'Bearer any' } })
  await expect(
    fetch(`${origin}/~close/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'Hello' }),
    }),
  ).rejects.toThrow('fetch failed')
  await program.waitFor('hung up')
  expect(program.stderr()).toBe('GET /v1/models 200\nPOST /~close/v1/responses hung up\n')
  program.child.kill('SIGTERM')
  expect(await program.ended).toEqual({ code: 0, signal: null })
})

test('with --strict, the base URLs refuse a field that the vendor accepts under a beta', async () => {
  const beta = { context_management: { edits: [] } }
  const statusAt = async (base = '') => {
    const { status } = await fetch(`${base}/v1/messages`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer any',
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'context-management-2025-06-27',
      },
      body: JSON.stringify({
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'a' }],
        ...beta,
      }),
    })
    return status
  }
  const program = await startProgram({ root: await userPlace() }, [
    'rehearse',
    '--strict',
    '--json',
  ])
  await program.waitFor('}\n')
  const { origin, base_urls, environment } = Output.parse(JSON.parse(program.stdout()))
  expect(base_urls).toEqual({ anthropic: `${origin}/~strict`, openai: `${origin}/~strict/v1` })
  expect(await statusAt(environment['ANTHROPIC_BASE_URL'])).toBe(400)
  expect(await statusAt(origin)).toBe(200)
  program.child.kill('SIGTERM')
  expect(await program.ended).toEqual({ code: 0, signal: null })
})

test('a port in use is reported', async () => {
  const other = createServer()
  onTestFinished(() => void other.close())
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const port = String(address.port)
  const root = await userPlace()
  const taken = await runCli({ root }, 'rehearse', '--port', port, '--json')
  expect([taken.code, failureOf(taken)]).toMatchObject([
    2,
    { kind: 'invalid_args', details: { port: address.port, code: 'EADDRINUSE' } },
  ])
})

test.each([
  ['--port', '0'],
  ['--port', '65536'],
  ['--port', 'http'],
  ['--cache-rate', '0'],
  ['--cache-rate', '-1'],
])('hawser rehearse %s %s is refused', async (...argv) => {
  const refused = await runCli({ root: await userPlace() }, 'rehearse', ...argv, '--json')
  expect([refused.code, failureOf(refused).kind]).toEqual([2, 'invalid_args'])
})
