import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BUILT_APP } from '../support/http/built-app.ts'
import { localServer } from '../support/http/local-server.ts'
import { newSession } from '../support/http/stream-client.ts'
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

async function scene() {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const { page, trouble } = await appTab(server, { path: `/s/${id}` })
  await connected(page)
  return { server, id, page, trouble }
}

const SELECTION = `(({ selectionStart, selectionEnd }) => [selectionStart, selectionEnd])(
  document.querySelector('.composer textarea'))`

/** Lines of text, and then a file. */
const PASTES = `for (const fill of [
  (data) => data.setData('text/plain', 'line\\nline\\n'),
  (data) => data.items.add(new File(['a note'], 'note.txt')),
]) {
  const clipboardData = new DataTransfer()
  fill(clipboardData)
  document.querySelector('.composer textarea')
    .dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }))
}`

const PICKER = '.composer input[type=file]'

function chips(page: Awaited<ReturnType<typeof scene>>['page']) {
  return page.locator('.chip .name').allTextContents()
}

test('files are chosen, judged by the server and previewed before they are sent, in their order [AT-032] [AT-035]', async () => {
  const { server, page, trouble, id } = await scene()
  const forged = join(server.root, 'forged.png')
  await writeFile(forged, 'not a picture')
  await page.setInputFiles(PICKER, [example('harbour.png'), forged])
  await expect.poll(() => page.locator('.chip .verdict').allTextContents()).toHaveLength(2)
  await expect.poll(() => chips(page)).toEqual(['harbour.png', 'forged.png'])
  await expect
    .poll(() => page.locator('.chip .verdict').allTextContents())
    .toEqual(['✓ accepted', expect.stringMatching(/^✗ /)])
  expect(await page.locator('.chip img').count()).toBe(1)
  expect(await page.locator('.chips').textContent()).toContain('of 18.0 MiB')
  await page.getByRole('button', { name: 'Remove forged.png' }).click()
  await expect.poll(() => chips(page)).toEqual(['harbour.png'])
  // What the draft has of it is enough for this preview; the server decides by the path alone.
  await expect
    .poll(async () => (await server.api('GET', `/api/harness/session/${id}/draft`)).body)
    .toMatchObject({ draft: { attachments: [{ name: 'harbour.png', mediaType: 'image/png' }] } })
  expect(trouble).toEqual([])
})

test('a draft with its files and its caret survives a reload, and is gone once it was sent [AT-033]', async () => {
  const { server, id, page } = await scene()
  await page.setInputFiles(PICKER, example('harbour.png'))
  await composer(page).fill('What do you see?')
  await page.evaluate(`document.querySelector('.composer textarea').setSelectionRange(5, 7)`)
  await expect
    .poll(async () => (await server.api('GET', `/api/harness/session/${id}/draft`)).body)
    .toMatchObject({
      draft: { caret: { start: 5, end: 7 }, attachments: [{ name: 'harbour.png' }] },
    })
  await page.reload()
  await connected(page)
  expect(await composer(page).inputValue()).toBe('What do you see?')
  expect(await page.evaluate(SELECTION)).toEqual([5, 7])
  expect(await chips(page)).toEqual(['harbour.png'])
  await composer(page).press('Enter')
  await endedTurns(page, 1)
  await expect
    .poll(async () => (await server.api('GET', `/api/harness/session/${id}/draft`)).body)
    .toMatchObject({ draft: { text: '', attachments: [], unconfirmed: [] } })
})

test('a reopened Session shows its attachments with pictures made from their descriptors [AT-034]', async () => {
  const { server, id, page } = await scene()
  await page.setInputFiles(PICKER, example('harbour.png'))
  await composer(page).fill('What do you see?')
  await composer(page).press('Enter')
  await endedTurns(page, 1)
  const { page: other } = await appTab(server)
  await openSession(other, server.origin, id)
  const picture = other.locator('.resource img')
  await picture.waitFor()
  expect(await other.evaluate(`document.querySelector('.resource img').naturalWidth`)).toBe(320)
  expect(await other.locator('.resource').textContent()).toContain(
    'Shown to the model on this Turn',
  )
})

test('on sending, the page passes absolute paths and nothing else about the files [AT-036]', async () => {
  const { page, server } = await scene()
  await page.setInputFiles(PICKER, example('harbour.png'))
  await composer(page).fill('What do you see?')
  await expect.poll(() => page.locator('.chip .verdict').allTextContents()).toEqual(['✓ accepted'])
  const sent = page.waitForRequest((request) => request.url().endsWith('/api/harness/turn'))
  await composer(page).press('Enter')
  const body = JSON.parse((await sent).postData() ?? '') as { attachments: unknown }
  expect(body.attachments).toEqual([join(server.root, 'home', 'staged', '0', 'harbour.png')])
})

test('a message whose files all fail returns to the composer as it was, each file with its reason [AT-038] [AT-043]', async () => {
  const { server, id, page } = await scene()
  const forged = join(server.root, 'forged.png')
  const data = join(server.root, 'data.xlsx')
  await writeFile(forged, 'not a picture')
  await writeFile(data, 'PK')
  await page.setInputFiles(PICKER, [forged, data])
  await expect.poll(() => page.locator('.chip .verdict').allTextContents()).toHaveLength(2)
  await expect.poll(() => page.locator('.chip.refused').count()).toBe(2)
  const answered = page.waitForResponse((response) => response.url().endsWith('/api/harness/turn'))
  await page.getByRole('button', { name: 'Send' }).click()
  // Shown at once, before the server has answered.
  expect((await answered).status()).toBe(400)
  await page.locator('.rollback').waitFor()
  expect(await page.locator('.turn.pending').count()).toBe(0)
  expect(await chips(page)).toEqual(['forged.png', 'data.xlsx'])
  const reasons = await page.locator('.rollback li').allTextContents()
  expect(reasons).toEqual([
    expect.stringMatching(/^forged\.png: ./),
    expect.stringMatching(/^data\.xlsx: Unsupported attachment extension '\.xlsx'/),
  ])
  // A refused key stays refused: the next attempt has another one.
  await composer(page).fill('Check these')
  await composer(page).press('Enter')
  await endedTurns(page, 2)
  const { body } = await server.api('GET', `/api/harness/session/${id}/log`)
  expect(JSON.stringify(body)).toContain('Check these')
})

test('a partial failure is shown at its message, and each notice once [AR-012]', async () => {
  const { server, page } = await scene()
  const forged = join(server.root, 'forged.png')
  await writeFile(forged, 'not a picture')
  await page.setInputFiles(PICKER, [example('harbour.png'), forged])
  await composer(page).fill('What do you see?')
  await composer(page).press('Enter')
  await endedTurns(page, 1)
  await page.reload()
  await connected(page)
  const notices = await page.locator('.notice[data-code=attachment_refused]').allTextContents()
  expect(notices).toEqual([expect.stringMatching(/^forged\.png was not attached: ./)])
})

test('pasted text is never sent, and a pasted picture becomes a file', async () => {
  const { page } = await scene()
  await composer(page).focus()
  await page.evaluate(PASTES)
  await expect.poll(() => chips(page)).toEqual(['note.txt'])
  expect(await page.locator('.turn').count()).toBe(0)
})
