import { expect, test } from 'vitest'
import { CANARY_KEY } from '../support/host/canary.ts'
import { freshFolder } from '../support/host/folder.ts'
import { newSession } from '../support/http/stream-client.ts'
import { sseOf } from '../support/providers/vendor-answer.ts'
import { scriptedServer } from '../support/providers/vendor-server.ts'
import { appTab, composer, connected, example, openSession, useBrowser } from './app-tab.ts'
import { appProgram, type AppProgram } from './app-program.ts'

useBrowser()

/** Six in CI, two of them at random; sixty with `HAWSER_TEST_SIZE=long`. */
const ROUNDS = process.env['HAWSER_TEST_SIZE'] === 'long' ? 60 : 6
const STATES = ['typing', 'uploading', 'sending', 'streaming', 'question'] as const
type State = (typeof STATES)[number]

/** Answers slowly, and writes a file if the message says so. */
async function slowModel() {
  const vendor = await scriptedServer(({ bytes }) => {
    const isCall = bytes.includes('Write it') && !bytes.includes('tool_result')
    const call = { id: 'toolu_1', name: 'write', arguments: '{"path":"a.txt","content":"a"}' }
    const whole = sseOf('messages', isCall ? { text: 'Yes.', calls: [call] } : { text: ANSWER })
    return { body: isCall ? whole : slowly(whole) }
  })
  return {
    close: () => vendor.close(),
    env: {
      ANTHROPIC_API_KEY: CANARY_KEY,
      ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
      HAWSER_PROVIDER: 'anthropic',
    },
  }
}

const ANSWER = 'The harbour opens at six. '.repeat(40)

async function* slowly(whole: Buffer) {
  const size = Math.ceil(whole.length / 60)
  for (let at = 0; at < whole.length; at += size) {
    yield whole.subarray(at, at + size)
    await new Promise((resolve) => void setTimeout(resolve, 40))
  }
}

test(
  'kill -9 of the server loses no draft, no file and no answer, and sends no message twice',
  { timeout: 20 * 60_000 },
  async () => {
    const model = await slowModel()
    const server = await appProgram(await freshFolder(), model.env)
    const { page, trouble } = await appTab(server)
    const seed = Number(process.env['SEED'] ?? 46)
    const random = numbers(seed)
    for (let round = 0; round < ROUNDS; round += 1) {
      const state = STATES[round % STATES.length] ?? 'typing'
      const delay = Math.floor(random() * 200)
      await killed({ server, page, state, delay }).catch((error: unknown) => {
        const where = `round ${round}: ${state}, killed after ${delay} ms, seed ${seed}`
        throw new Error(`${where}: ${String(error)}`, { cause: error })
      })
    }
    expect(trouble).toEqual([])
    console.log(JSON.stringify({ test: 'web kills', n: ROUNDS, violations: 0, seed }))
    await model.close()
  },
)

interface Round {
  readonly server: AppProgram
  readonly page: Awaited<ReturnType<typeof appTab>>['page']
  readonly state: State
  readonly delay: number
}

async function killed({ server, page, state, delay }: Round): Promise<void> {
  const id = await created(server)
  await openSession(page, server.origin, id)
  const text = state === 'question' ? 'Write it' : `A message while ${state}`
  const draft = 'What I typed meanwhile'
  await composer(page).fill(text)
  if (state === 'uploading')
    await page.setInputFiles('.composer input[type=file]', [
      example('harbour.png'),
      example('../README.md'),
    ])
  if (state === 'sending' || state === 'streaming' || state === 'question')
    await composer(page).press('Enter')
  if (state === 'streaming') await page.locator('.answer.streaming').waitFor()
  if (state === 'question') await page.locator('.question').waitFor()
  if (state === 'streaming' || state === 'question') await composer(page).fill(draft)
  // Half of the questions are answered, and so was what the server acknowledged.
  let isAnswered = false
  page.on('response', (one) => {
    if (one.url().endsWith('/api/harness/permission') && one.status() === 200) isAnswered = true
  })
  if (state === 'question' && delay % 2 === 0) {
    await page.keyboard.press('Alt+q')
    await page.keyboard.press('1')
  }
  await new Promise((resolve) => void setTimeout(resolve, delay))
  await server.kill()
  await server.start()
  await connected(page)
  // A file that had not arrived is sent again by the tab that has it.
  if (state === 'uploading')
    await expect
      .poll(() => page.locator('.chip .verdict').allTextContents())
      .toEqual(['✓ accepted', '✓ accepted'])
  if (state === 'typing' || state === 'uploading') {
    await expect.poll(() => page.locator('[data-draft]').getAttribute('data-draft')).toBe('saved')
    await page.reload()
    await connected(page)
    await expect.poll(() => composer(page).inputValue()).toBe(text)
    if (state === 'typing') return
  }
  if (state === 'uploading') {
    await expect
      .poll(() => page.locator('.chip .verdict').allTextContents())
      .toEqual(['✓ accepted', '✓ accepted'])
    return
  }
  // The Turn ended, or the page says that no process runs it, and the next message records its end.
  await expect.poll(() => page.locator('.turn-end, .left').count()).toBe(1)
  await expect.poll(() => page.locator('.turn.pending').count()).toBe(0)
  expect(await composer(page).inputValue()).toBe(state === 'sending' ? '' : draft)
  await expect.poll(() => page.locator('.turn .message .text').allTextContents()).toEqual([text])
  await composer(page).fill('Say more')
  await composer(page).press('Enter')
  await expect.poll(async () => countOf(await eventsOf(server, id), 'turn_ended')).toBe(2)
  const events = await eventsOf(server, id)
  if (isAnswered) expect(events).toContain('permission_decision')
  expect([countOf(events, 'user_message'), countOf(events, 'turn_started')]).toEqual([2, 2])
}

function countOf(types: readonly string[], type: string): number {
  return types.filter((one) => one === type).length
}

function asked(server: AppProgram, path: string, body?: object): Promise<Response> {
  return fetch(server.origin + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function created(server: AppProgram): Promise<string> {
  const place = { origin: server.origin, token: server.token }
  return newSession({ ...place, root: '', workspace: server.workspace, api: apiOf(server) })
}

function apiOf(server: AppProgram): Parameters<typeof newSession>[0]['api'] {
  return async (_method, path, body) => {
    const answer = await asked(server, path, body as object)
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
}

async function eventsOf(server: AppProgram, id: string): Promise<string[]> {
  const answer = await asked(server, `/api/harness/session/${id}/log?limit=1000`)
  const { events } = (await answer.json()) as { events: { event: { type: string } }[] }
  return events.map(({ event }) => event.type)
}

/** The same numbers from 0 to 1 for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
