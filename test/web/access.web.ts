import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BUILT_APP } from '../support/http/built-app.ts'
import { localServer } from '../support/http/local-server.ts'
import { newSession, turn } from '../support/http/stream-client.ts'
import {
  appTab,
  composer,
  connected,
  endedTurns,
  example,
  useBrowser,
  IS_WIDE,
  type AppTab,
} from './app-tab.ts'

useBrowser()

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** The serious and critical findings of axe on what is shown now. */
async function findings({ page }: Pick<AppTab, 'page'>): Promise<unknown> {
  await page.evaluate(OPEN_DETAILS)
  return page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200))]))`)
}

const OPEN_DETAILS = `document.querySelectorAll('details').forEach((one) => one.setAttribute('open', ''))`
const FOCUS = 'document.activeElement?.tagName'
/** Of a button: the changes of a question can have the focus too, and any text in them. */
const FOCUSED_TEXT = `document.activeElement?.closest('button')?.textContent`

test.each(['dark', 'light'] as const)(
  'axe finds nothing serious on any screen, %s',
  async (colorScheme) => {
    const server = await localServer({ app: BUILT_APP })
    await newSession(server)
    // Injected by the browser itself: the policy of the page allows no other script.
    const options = { colorScheme, bypassCSP: true }
    const out = await appTab({ origin: server.origin, token: undefined }, options)
    await out.page.addScriptTag({ path: AXE })
    expect(['signed out', await findings(out)]).toEqual(['signed out', []])
    const tab = await appTab(server, options)
    const { page } = tab
    const clean = async (screen: string) =>
      expect([screen, await findings(tab)]).toEqual([screen, []])
    await page.addScriptTag({ path: AXE })
    await page.locator('.row').waitFor()
    await clean('new Session')
    await page.locator('.row a').click()
    await connected(page)
    await clean('empty Session')
    await page.setInputFiles('.composer input[type=file]', [
      example('harbour.png'),
      example('../package.json'),
    ])
    await expect.poll(() => page.locator('.chip .verdict').allTextContents()).toHaveLength(2)
    await clean('files')
    await page.route('**/api/harness/turn', (route) =>
      route.fulfill({ status: 400, json: { ok: false, error: { message: 'No' } } }),
    )
    await composer(page).press('Enter')
    await page.locator('.rollback').waitFor()
    await clean('refused message')
    await page.unroute('**/api/harness/turn')
    const other = await page.context().newPage()
    await other.goto(page.url())
    await connected(other)
    await composer(other).fill('Another version')
    await expect.poll(() => other.locator('[data-draft]').getAttribute('data-draft')).toBe('saved')
    await other.close()
    await composer(page).fill('This version')
    await page.locator('.conflict').waitFor()
    await clean('two versions')
    await page.getByRole('button', { name: 'Keep what is here' }).click()
    await composer(page).fill('What do you see?')
    await composer(page).press('Enter')
    await endedTurns(page, 1)
    await page.locator('.resource img').waitFor()
    await clean('answer')
    await page.locator('.resource .picture').click()
    await page.locator('.original img').waitFor()
    await clean('whole picture')
    await page.keyboard.press('Escape')
    await page.locator('.row').hover()
    await page.locator('.row .delete').click()
    await clean('delete')
    await page.getByRole('button', { name: 'Keep', exact: true }).click()
    await writeFile(join(server.workspace, 'quay.md'), '# Quay')
    await composer(page).fill('')
    await composer(page).pressSequentially('@qu')
    await page.locator('.suggestions li').waitFor()
    await clean('suggestions')
    await page.keyboard.press('Escape')
    await composer(page).fill('Write "a" to a.txt')
    await composer(page).press('Enter')
    await page.locator('.question .diff').waitFor()
    await clean('question')
    await composer(page).fill('Say more')
    await composer(page).press('Enter')
    await page.locator('.queue').waitFor()
    await clean('queue')
    await page.keyboard.press('Control+k')
    await page.locator('dialog').waitFor()
    await clean('palette')
    await page.keyboard.press('Escape')
    await page.locator('.transcript').focus()
    await page.keyboard.press('?')
    await page.locator('dialog .keys').waitFor()
    await clean('keys')
    await page.keyboard.press('Escape')
    await page.goto(`${server.origin}/s/ses_01kg8m2q3r4s5t6v7w8x9y0z12`)
    await page.addScriptTag({ path: AXE })
    await page.locator('.failed').waitFor()
    await clean('unknown Session')
    await page.setViewportSize({ width: 360, height: 640 })
    await page.getByRole('button', { name: 'Sessions' }).click()
    await page.locator('.row').waitFor()
    await clean('sheet of Sessions')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.side').isVisible()).toBe(false)
    await page.goto(server.origin)
    await page.addScriptTag({ path: AXE })
    // The folders have arrived, so that there is one to start in.
    await page.locator('.known-folder').waitFor()
    await server.running.close()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.locator('.new-session .problem').waitFor()
    await clean('stopped server')
  },
)

test('a whole journey by keyboard alone: new Session, message, question, interrupt, another Session', async () => {
  const server = await localServer({ app: BUILT_APP })
  const other = await newSession(server)
  await (
    await turn(server, other, 'Say mooring')
  ).ended
  const { page } = await appTab(server)
  await page.locator('.row').waitFor()
  const press = (key: string) => page.keyboard.press(key)
  // From the start of the page, Tab reaches every control in order.
  for (let count = 0; count < 20; count += 1) {
    await press('Tab')
    const name = await page.evaluate(`document.activeElement?.getAttribute('name')`)
    if (name === 'folder') break
  }
  await press('Control+a')
  await page.keyboard.type(server.workspace)
  await press('Enter')
  await connected(page)
  await expect.poll(() => page.evaluate(FOCUS)).toBe('TEXTAREA')
  await page.keyboard.type('Write "a" to a.txt')
  await press('Enter')
  await page.locator('.question').waitFor()
  // The focus stays in the composer while the question arrives.
  expect(await page.evaluate(FOCUS)).toBe('TEXTAREA')
  await press('Alt+q')
  for (let count = 0; count < 20; count += 1) {
    await press('Tab')
    if ((await page.evaluate(FOCUSED_TEXT)) === '6 No') break
  }
  expect(await page.evaluate(FOCUSED_TEXT)).toBe('6 No')
  await press('Enter')
  await page.keyboard.type('Not now')
  await press('Enter')
  await endedTurns(page, 1)
  expect(await page.locator('.turn').textContent()).toContain('Not now')
  await press('Alt+m')
  await page.keyboard.type('Write "b" to b.txt')
  await press('Enter')
  await page.locator('.question').waitFor()
  await press('Alt+.')
  await endedTurns(page, 2)
  expect(await page.locator('.turn').last().textContent()).toContain('Interrupted')
  await press('Control+k')
  await page.keyboard.type('mooring')
  await press('Enter')
  await expect.poll(() => page.url()).toBe(`${server.origin}/s/${other}`)
})

test('at 360 pixels everything fits, and the Sessions are a sheet', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const { page } = await appTab(server, {
    path: `/s/${id}`,
    viewport: { width: 360, height: 640 },
  })
  await connected(page)
  await composer(page).fill('Write "a" to a.txt')
  await composer(page).press('Enter')
  await page.locator('.question').waitFor()
  const isWide = () => page.evaluate(IS_WIDE)
  expect(await isWide()).toBe(false)
  expect(await page.locator('.side').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Sessions' }).click()
  await page.locator('.row').waitFor()
  expect(await isWide()).toBe(false)
  // Every answer is seen without scrolling, also the last one.
  await page.keyboard.press('Escape')
  for (const choice of await page.locator('.question .choices button').all()) {
    const box = await choice.boundingBox()
    expect((box?.y ?? 0) + (box?.height ?? 999)).toBeLessThanOrEqual(640)
  }
})

test('text that runs from right to left has its own direction, and reduced motion has none', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const { page } = await appTab(server, { path: `/s/${id}`, reducedMotion: 'reduce' })
  await connected(page)
  await composer(page).fill('قل مرحبا')
  const direction = (selector: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`)
  expect(await direction('.composer textarea')).toBe('rtl')
  await composer(page).press('Enter')
  await endedTurns(page, 1)
  expect([await direction('.message .text'), await direction('body')]).toEqual(['rtl', 'ltr'])
  expect(await page.evaluate(`document.getAnimations().length`)).toBe(0)
})
