import { expect, test } from 'vitest'
import { BUILT_APP } from '../support/http/built-app.ts'
import { localServer } from '../support/http/local-server.ts'
import { newSession } from '../support/http/stream-client.ts'
import { appTab, composer, connected, endedTurns, example, useBrowser } from './app-tab.ts'

useBrowser()

async function scene() {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const path = `/s/${id}`
  const { page, trouble } = await appTab(server, { path })
  await connected(page)
  return { server, id, path, page, trouble }
}

type Page = Awaited<ReturnType<typeof scene>>['page']

const SELECTION = `(({ selectionStart, selectionEnd }) => [selectionStart, selectionEnd])(
  document.querySelector('.composer textarea'))`
const PICKER = '.composer input[type=file]'

function isDraft(page: Page, state: string) {
  return expect.poll(() => page.locator('[data-draft]').getAttribute('data-draft')).toBe(state)
}

function chips(page: Page) {
  return page.locator('.chip .name').allTextContents()
}

/** Holds a request until it is opened. */
function gate() {
  let open = () => {}
  const isOpen = new Promise<void>((resolve) => void (open = resolve))
  return { isOpen, open: () => open() }
}

/** Another tab of the same browser. */
async function nextTab(page: Page, address: string): Promise<Page> {
  const next = await page.context().newPage()
  await next.goto(address)
  await connected(next)
  return next
}

test('a refused message returns with its text, files, order and caret, and each file has its reason', async () => {
  const { page } = await scene()
  await page.setInputFiles(PICKER, [example('harbour.png'), example('../package.json')])
  await expect.poll(() => chips(page)).toEqual(['harbour.png', 'package.json'])
  const paths: string[] = []
  await page.route('**/api/harness/turn', async (route) => {
    const { attachments } = route.request().postDataJSON() as { attachments: string[] }
    paths.push(...attachments)
    // What is typed before the answer is not lost, and its caret stays.
    await composer(page).fill('typed meanwhile')
    await page.evaluate(`document.querySelector('.composer textarea').setSelectionRange(5, 5)`)
    const attachmentErrors = attachments.map((one) => ({ path: one, reason: 'it is not accepted' }))
    const details = { category: 'ALL_ATTACHMENTS_FAILED_NO_TEXT', attachmentErrors }
    const error = { type: 'ATTACHMENT_FAILURE', kind: 'attachments_failed', message: 'No', details }
    await route.fulfill({ status: 400, json: { ok: false, error } })
  })
  await composer(page).fill('Look at\nthese two')
  await page.evaluate(`document.querySelector('.composer textarea').setSelectionRange(3, 9)`)
  await composer(page).press('Enter')
  await page.locator('.rollback').waitFor()
  expect(await composer(page).inputValue()).toBe('Look at\nthese two\ntyped meanwhile')
  expect(await page.evaluate(SELECTION)).toEqual([23, 23])
  expect(await chips(page)).toEqual(['harbour.png', 'package.json'])
  expect(await page.locator('.chip .verdict').allTextContents()).toEqual([
    '✗ it is not accepted',
    '✗ it is not accepted',
  ])
  expect(paths).toHaveLength(2)
  await page.unroute('**/api/harness/turn')
  await page.route('**/api/harness/turn', (route) =>
    route.fulfill({ status: 400, json: { ok: false, error: { message: 'No' } } }),
  )
  await page.evaluate(`document.querySelector('.composer textarea').setSelectionRange(3, 9)`)
  await composer(page).press('Enter')
  await expect.poll(() => page.locator('.rollback').textContent()).toBe('Not sent: No')
  expect(await page.evaluate(SELECTION)).toEqual([3, 9])
})

test('what a crashed tab had not saved is found by the next one, and what a living tab has is left to it', async () => {
  const { page, server, path } = await scene()
  await page.context().setOffline(true)
  await composer(page).fill('Typed while the server was away')
  await isDraft(page, 'local')
  const other = await page.context().newPage()
  await page.route('**/draft', (route) => route.abort())
  await page.context().setOffline(false)
  await other.goto(server.origin + path)
  await connected(other)
  await isDraft(other, 'saved')
  expect(await composer(other).inputValue()).toBe('')
  await page.close()
  // The browser notices a moment later that the tab is gone.
  const found = async () => {
    await other.evaluate(`dispatchEvent(new Event('focus'))`)
    return composer(other).inputValue()
  }
  await expect.poll(found).toBe('Typed while the server was away')
  await isDraft(other, 'saved')
})

test('two versions stay two versions after a reload, until a person chooses', async () => {
  const { page, server, path } = await scene()
  const other = await nextTab(page, server.origin + path)
  await composer(page).fill('From the first tab')
  await isDraft(page, 'saved')
  await composer(other).fill('From the second tab')
  await isDraft(other, 'conflict')
  await composer(other).press('End')
  await other.keyboard.type(', and more')
  await other.reload()
  await isDraft(other, 'conflict')
  expect(await other.locator('.conflict dd').allTextContents()).toEqual([
    'From the second tab, and more',
    'From the first tab',
  ])
  await other.getByRole('button', { name: 'Take what is there' }).click()
  expect(await composer(other).inputValue()).toBe('From the first tab')
})

test('what is typed before the draft has arrived is added to it, and an answer from before that is ignored', async () => {
  const { page, server, path } = await scene()
  await composer(page).fill('Kept before')
  await isDraft(page, 'saved')
  const first = gate()
  const second = gate()
  const asked: string[] = []
  const other = await page.context().newPage()
  await other.route('**/draft', async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const answer = await route.fetch()
    asked.push('GET')
    await (asked.length === 1 ? first : second).isOpen
    await route.fulfill({ response: answer })
  })
  await other.goto(server.origin + path)
  await composer(other).fill('typed early')
  const before = asked.length
  await other.evaluate(`dispatchEvent(new Event('focus'))`)
  await expect.poll(() => asked.length).toBeGreaterThan(before)
  first.open()
  await isDraft(other, 'saved')
  second.open()
  await other.unrouteAll({ behavior: 'wait' })
  await other.keyboard.type('!')
  await isDraft(other, 'saved')
  expect(await composer(other).inputValue()).toBe('Kept before\ntyped early!')
})

test('a draft that the server does not store is reported as such, and is still there after a reload', async () => {
  const { page } = await scene()
  await page.route('**/draft', (route) =>
    route.request().method() === 'PUT'
      ? route.fulfill({ status: 400, json: { ok: false, error: { message: 'It is too long.' } } })
      : route.continue(),
  )
  await composer(page).fill('Too long')
  await isDraft(page, 'refused')
  expect(await page.locator('[data-draft]').textContent()).toBe(
    'Your draft is safe in this browser only. The server does not store it: It is too long.',
  )
  await page.reload()
  await isDraft(page, 'refused')
  expect(await composer(page).inputValue()).toBe('Too long')
})

test('text for a running Turn is added once, also if a reloaded page sends it again', async () => {
  const { page, server, id } = await scene()
  await composer(page).fill('Write "a" to a.txt')
  await composer(page).press('Enter')
  await page.locator('.question').waitFor()
  for (const text of ['Say more', 'Say more']) {
    const sent = page.waitForResponse((one) => one.url().endsWith('/api/harness/steer'))
    await composer(page).fill(text)
    await composer(page).press('Alt+Enter')
    expect((await sent).status()).toBe(200)
  }
  const again = page.waitForResponse((one) => one.url().endsWith('/api/harness/steer'))
  await page.reload()
  await page.locator('.question').waitFor()
  expect((await again).status()).toBe(200)
  await page.keyboard.press('Alt+q')
  await page.keyboard.press('1')
  await endedTurns(page, 1)
  await expect.poll(() => page.locator('.turn.pending').count()).toBe(0)
  const { body } = await server.api('GET', `/api/harness/session/${id}/log`)
  const { events } = body as { events: { event: { type: string; data: { steer?: true } } }[] }
  const steered = events.filter(({ event }) => event.data.steer === true)
  expect(steered).toHaveLength(2)
})

test('a waiting message that is edited is in the composer or in the queue, whatever fails', async () => {
  const { page } = await scene()
  await composer(page).fill('Write "a" to a.txt')
  await composer(page).press('Enter')
  await page.locator('.question').waitFor()
  await composer(page).fill('Say two')
  await composer(page).press('Enter')
  await page.locator('.queue').waitFor()
  await page.route('**/queue/*', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Edit' }).click()
  await expect.poll(() => composer(page).inputValue()).toBe('Say two')
  await expect.poll(() => page.locator('.queue').count()).toBe(0)
  await page.reload()
  await expect.poll(() => composer(page).inputValue()).toBe('Say two')
})

test('a file that is still on its way arrives although another Session is shown', async () => {
  const { page, server, id, path } = await scene()
  const other = await newSession(server)
  const { isOpen: isLeft, open: left } = gate()
  await page.route('**/api/harness/attachments?*', async (route) => {
    await isLeft
    await route.continue()
  })
  await page.setInputFiles(PICKER, example('harbour.png'))
  await page.locator('.chip').waitFor()
  await page.locator(`.row a[href="/s/${other}"]`).click()
  await expect.poll(() => page.locator('.chip').count()).toBe(0)
  left()
  await expect
    .poll(async () => (await server.api('GET', `/api/harness/session/${id}/draft`)).body)
    .toMatchObject({ draft: { attachments: [{ name: 'harbour.png' }] } })
  await page.locator(`.row a[href="${path}"]`).click()
  await expect.poll(() => chips(page)).toEqual(['harbour.png'])
})

/** Files that a paste or a drop has; `text` is what else the clipboard has. */
function give(type: 'paste' | 'drop', at: string, text = ''): string {
  return `(() => {
    const data = new DataTransfer()
    if (${JSON.stringify(text)} !== '') data.setData('text/plain', ${JSON.stringify(text)})
    data.items.add(new File([new Uint8Array(8)], 'cells.png', { type: 'image/png' }))
    const event = ${type === 'paste' ? `new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })` : `new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })`}
    document.querySelector(${JSON.stringify(at)}).dispatchEvent(event)
    return event.defaultPrevented
  })()`
}

test('cells of a spreadsheet are pasted as text; a file dropped anywhere is attached or ignored, and never opened', async () => {
  const { page, server } = await scene()
  expect(await page.evaluate(give('paste', '.composer textarea', '1\t2'))).toBe(false)
  expect(await chips(page)).toEqual([])
  expect(await page.evaluate(give('paste', '.composer textarea'))).toBe(true)
  await expect.poll(() => chips(page)).toEqual(['cells.png'])
  expect(await page.evaluate(give('drop', '.transcript'))).toBe(true)
  await expect.poll(() => chips(page)).toEqual(['cells.png', 'cells.png'])
  expect(await page.evaluate(give('drop', '.sessions'))).toBe(true)
  expect(page.url().startsWith(server.origin)).toBe(true)
})

test('a file that cannot be read is refused, and not tried again and again', async () => {
  const { page } = await scene()
  await page.route('**/api/harness/attachments?*', (route) => route.abort())
  await page.evaluate(`Blob.prototype.arrayBuffer = () => Promise.reject(new Error('a folder'))`)
  await page.setInputFiles(PICKER, example('harbour.png'))
  await expect
    .poll(() => page.locator('.chip .verdict').textContent())
    .toBe('✗ It cannot be read: it is a folder, or it was changed or removed.')
})
