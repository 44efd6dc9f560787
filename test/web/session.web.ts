import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { CANARY_KEY } from '../support/host/canary.ts'
import { BUILT_APP } from '../support/http/built-app.ts'
import { localServer } from '../support/http/local-server.ts'
import { newSession, permit, turn, watch } from '../support/http/stream-client.ts'
import { scriptedServer } from '../support/providers/vendor-server.ts'
import { sseOf } from '../support/providers/vendor-answer.ts'
import {
  appTab,
  composer,
  connected,
  endedTurns,
  example,
  openSession,
  useBrowser,
} from './app-tab.ts'

useBrowser()

test('without a token the page says how to get one; the link of `up --open` works once, and leads to an answered picture', async () => {
  const server = await localServer({ app: BUILT_APP })
  const { page, trouble } = await appTab({ origin: server.origin, token: undefined })
  expect(await page.locator('.signed-out').textContent()).toContain('hawser up --open')
  const folder = encodeURIComponent(server.workspace)
  const link = `${server.origin}/#code=${server.running.pageCode()}&folder=${folder}`
  await page.goto(link)
  await page.getByRole('button', { name: 'Start' }).click()
  expect(page.url()).not.toContain('code')
  await connected(page)
  await page.setInputFiles('.composer input[type=file]', example('harbour.png'))
  await composer(page).fill('What do you see?')
  await composer(page).press('Enter')
  await endedTurns(page, 1)
  expect(await page.locator('.answer').textContent()).toContain('@img1 is a PNG picture')
  const { page: other } = await appTab({ origin: server.origin, token: undefined })
  await other.goto(link)
  await other.reload()
  await expect.poll(() => other.locator('.signed-out').count()).toBe(1)
  expect(trouble).toEqual([])
})

const LONG = `# Plan of the quay

Some **bold** text, a [link](https://example.invalid/a) and \`code\`.

| berth | depth |
|---|---|
| one | 4 m |
| two | 6 m |

\`\`\`ts
export const depth = (berth: number): number => berth * 2
\`\`\`

- [x] measured
- [ ] drawn

$$ E = mc^2 $$
`

/** Thinks, asks to write a file, and answers at length. */
async function scriptedModel() {
  const vendor = await scriptedServer(({ bytes }) => {
    const isDone = bytes.includes('tool_result')
    const call = {
      id: 'toolu_1',
      name: 'write',
      arguments: '{"path":"quay.md","content":"# Quay\\n"}',
    }
    return {
      body: isDone
        ? sseOf('messages', { text: LONG })
        : sseOf('messages', {
            reasoning: 'The quay needs a plan.',
            text: 'I write it.',
            calls: [call],
          }),
    }
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

test('a question is answered here, and the answer is drawn with code, a table, a diff and thinking', async () => {
  const model = await scriptedModel()
  const server = await localServer({ app: BUILT_APP, env: model.env })
  await writeFile(`${server.workspace}/quay.md`, '# Old\n')
  const id = await newSession(server)
  const { page, trouble } = await appTab(server, { path: `/s/${id}` })
  await connected(page)
  await composer(page).fill('Plan the quay')
  await composer(page).press('Enter')
  const question = page.locator('.question')
  await question.waitFor()
  expect(await question.textContent()).toContain('Waiting for you: write quay.md')
  await expect.poll(() => question.locator('.diff').textContent()).toContain('+# Quay')
  // A key meant for the composer answers nothing.
  await composer(page).fill('')
  await composer(page).press('1')
  expect(await question.count()).toBe(1)
  expect(await composer(page).inputValue()).toBe('1')
  await page.keyboard.press('Alt+q')
  await page.keyboard.press('1')
  await endedTurns(page, 1)
  expect(await question.count()).toBe(0)
  await expect.poll(() => page.locator('.card .diff').count()).toBe(1)
  expect(await page.locator('.markdown td').allTextContents()).toEqual(['one', '4 m', 'two', '6 m'])
  await expect.poll(() => page.locator('.code .hljs-keyword').count()).toBeGreaterThan(0)
  expect(await page.locator('.markdown').last().textContent()).toContain('$$ E = mc^2 $$')
  expect(await page.locator('.thinking summary').count()).toBe(1)
  // What was typed meanwhile is still there.
  expect(await composer(page).inputValue()).toBe('1')
  await model.close()
  expect(trouble).toEqual([])
})

test('a question that another client answers closes here, and both show the same', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const one = await appTab(server, { path: `/s/${id}` })
  const other = await appTab(server, { path: `/s/${id}` })
  await connected(one.page)
  await connected(other.page)
  const stream = await turn(server, id, 'Write "a" to a.txt')
  const { requestId } = await stream.first('permission:request')
  await one.page.locator('.question').waitFor()
  await other.page.locator('.question').waitFor()
  await permit(server, requestId, { decision: 'allowed' })
  await endedTurns(one.page, 1)
  await endedTurns(other.page, 1)
  expect(await one.page.locator('.question').count()).toBe(0)
  expect(await one.page.locator('.turn').allTextContents()).toEqual(
    await other.page.locator('.turn').allTextContents(),
  )
})

test('while a Turn runs, messages wait in a queue that is changed here and owned by the server', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const { page } = await appTab(server, { path: `/s/${id}` })
  await connected(page)
  await composer(page).fill('Write "a" to a.txt')
  await composer(page).press('Enter')
  await page.locator('.question').waitFor()
  for (const text of ['Say one', 'Say two', 'Say three']) {
    await composer(page).fill(text)
    await composer(page).press('Enter')
    await expect.poll(() => page.locator('.queue').textContent()).toContain(text)
  }
  await page.getByRole('button', { name: 'Send earlier: Say three' }).click()
  await expect
    .poll(() => page.locator('.queue-text').allTextContents())
    .toEqual(['Say one', 'Say three', 'Say two'])
  await page.locator('.queue li').first().getByRole('button', { name: 'Cancel' }).click()
  await expect
    .poll(() => page.locator('.queue-text').allTextContents())
    .toEqual(['Say three', 'Say two'])
  await page.locator('.queue li').last().getByRole('button', { name: 'Edit' }).click()
  await expect.poll(() => composer(page).inputValue()).toBe('Say two')
  await page.keyboard.press('Alt+q')
  await page.keyboard.press('1')
  await endedTurns(page, 2)
  await expect.poll(() => page.locator('.queue').count()).toBe(0)
  expect(await page.locator('.message .text').allTextContents()).toEqual([
    'Write "a" to a.txt',
    'Say three',
  ])
})

test('two tabs do not overwrite each other, and a person chooses between two versions', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const [one, other] = [
    (await appTab(server, { path: `/s/${id}` })).page,
    (await appTab(server, { path: `/s/${id}` })).page,
  ]
  await connected(one)
  await connected(other)
  await composer(one).fill('From the first tab')
  await expect.poll(() => one.locator('[data-draft]').getAttribute('data-draft')).toBe('saved')
  await composer(other).fill('From the second tab')
  await other.locator('.conflict').waitFor()
  expect(await other.locator('.conflict dd').allTextContents()).toEqual([
    'From the second tab',
    'From the first tab',
  ])
  await other.getByRole('button', { name: 'Keep what is here' }).click()
  await expect.poll(() => other.locator('[data-draft]').getAttribute('data-draft')).toBe('saved')
  await one.evaluate(`dispatchEvent(new Event('focus'))`)
  await expect.poll(() => composer(one).inputValue()).toBe('From the second tab')
})

test('a stopped server is reported, nothing typed is lost, and the page continues with the next one', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const { page } = await appTab(server, { path: `/s/${id}` })
  await connected(page)
  await page.context().setOffline(true)
  await composer(page).fill('Typed while it was away')
  await expect.poll(() => page.locator('[data-draft]').getAttribute('data-draft')).toBe('local')
  await page.context().setOffline(false)
  await expect.poll(() => page.locator('[data-draft]').getAttribute('data-draft')).toBe('saved')
  const watching = await watch(server, id)
  await composer(page).press('Enter')
  await watching.first('process:exit')
  expect(watching.of('user:message')).toMatchObject([{ text: 'Typed while it was away' }])
})

test('Sessions are listed, created, found, opened by address, and deleted after a confirmation', async () => {
  const server = await localServer({ app: BUILT_APP })
  const first = await newSession(server)
  await (
    await turn(server, first, 'Say mooring')
  ).ended
  const { page } = await appTab(server)
  await page.locator('.row').waitFor()
  expect(await page.locator('.row .title').allTextContents()).toEqual(['Say mooring'])
  await page.locator('input[name=folder]').fill('/no/such/folder')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.locator('.new-session .problem').waitFor()
  await page.locator('input[name=folder]').fill(server.workspace)
  await page.getByRole('button', { name: 'Start' }).click()
  await connected(page)
  const created = page.url()
  await expect.poll(() => page.locator('.row').count()).toBe(2)
  await page.getByLabel('Search Sessions').fill('moor')
  await expect.poll(() => page.locator('.row').count()).toBe(1)
  await page.locator('.row a').click()
  await expect.poll(() => page.url()).toBe(`${server.origin}/s/${first}`)
  await page.goBack()
  await expect.poll(() => page.url()).toBe(created)
  await page.goForward()
  await page.locator('.row').hover()
  await page.getByRole('button', { name: 'Delete Session Say mooring' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect.poll(() => page.url()).toBe(`${server.origin}/`)
  expect((await server.api('GET', `/api/harness/session/${first}`)).status).toBe(404)
})

test('`@` and `/` complete what the server knows, and a completed file is included', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const { page } = await appTab(server)
  await writeFile(`${server.workspace}/berths.md`, 'Forty berths.\n')
  await openSession(page, server.origin, id)
  await composer(page).pressSequentially('Read @ber')
  await page.locator('.suggestions li').waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(() => composer(page).inputValue()).toBe('Read @berths.md ')
  await composer(page).press('Enter')
  await endedTurns(page, 1)
  expect(await page.locator('.message').textContent()).toContain('Included: berths.md')
})
