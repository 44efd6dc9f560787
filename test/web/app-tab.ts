import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, onTestFinished } from 'vitest'
import { BUILT_APP } from '../support/http/built-app.ts'

const PROGRAM = '/usr/bin/chromium'

/** No sandbox, since tests run as root, and no request of its own. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-precise-memory-info',
  '--js-flags=--expose-gc',
]

let browser: Promise<Browser> | undefined

/** One browser for the tests of a file. Call it at the top of the file. */
export function useBrowser(): void {
  afterAll(async () => {
    await (await browser)?.close()
    browser = undefined
  })
}

/** A tab of its own profile with the app in it, signed in. */
export interface AppTab {
  readonly page: Page
  /** Errors of scripts, violations of the policy, dialogs, and requests to other places. */
  readonly trouble: string[]
}

export interface TabOptions extends BrowserContextOptions {
  readonly path?: string
}

export async function appTab(
  { origin, token }: { readonly origin: string; readonly token: string | undefined },
  { path = '/', ...options }: TabOptions = {},
): Promise<AppTab> {
  browser ??= chromium.launch({ executablePath: PROGRAM, args: FLAGS })
  const context = await (
    await browser
  ).newContext({
    viewport: { width: 1200, height: 800 },
    ...options,
  })
  onTestFinished(() => context.close())
  const trouble: string[] = []
  // What leaves is stopped and reported.
  await context.route('**', (route) => {
    const { protocol, origin: target } = new URL(route.request().url())
    if (target === origin || protocol === 'blob:') return route.continue()
    trouble.push(`request: ${route.request().url()}`)
    return route.abort()
  })
  if (token !== undefined)
    await context.addInitScript(`sessionStorage.setItem('hawser.token', ${JSON.stringify(token)})`)
  const page = await context.newPage()
  page.on('pageerror', ({ message }) => void trouble.push(`error: ${message}`))
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('popup', (popup) => void trouble.push(`popup: ${popup.url()}`))
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text()))
      trouble.push(`policy: ${message.text()}`)
  })
  await page.goto(origin + path)
  return { page, trouble }
}

/** Opens a Session and waits until it is connected. */
export async function openSession(page: Page, origin: string, id: string): Promise<void> {
  await page.goto(`${origin}/s/${id}`)
  await connected(page)
}

export async function connected(page: Page): Promise<void> {
  await page.locator('.composer textarea').waitFor()
  await page.locator('.banner').waitFor({ state: 'detached' })
}

export function composer(page: Page) {
  return page.locator('.composer textarea')
}

/** Resolves when that many Turns have ended. */
export async function endedTurns(page: Page, count: number): Promise<void> {
  await page
    .locator('.turn-end')
    .nth(count - 1)
    .waitFor({ state: 'attached' })
}

export function example(name: string): string {
  return join(BUILT_APP, '..', '..', 'examples', name)
}

/** Whether the page is wider than its window; as text, because the types of a browser are not those of the tests. */
export const IS_WIDE = 'document.documentElement.scrollWidth > innerWidth'
