import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { Descriptor } from '../../src/model/descriptor.ts'
import type { EventDraft } from '../../src/model/events/event.ts'
import { TurnId } from '../../src/model/ids.ts'
import { freshFolder } from '../support/host/folder.ts'
import { BUILT_APP } from '../support/http/built-app.ts'
import { localServer } from '../support/http/local-server.ts'
import { newSession, turn } from '../support/http/stream-client.ts'
import { startChild } from '../faults/support/child.ts'
import { bundleScript } from '../support/host/bundle-script.ts'
import { writeLog } from '../support/session/write-log.ts'
import { appTab, composer, connected, endedTurns, openSession, useBrowser } from './app-tab.ts'

useBrowser()

const START: EventDraft = {
  type: 'session_started',
  data: {
    workspace: '/w',
    provider: 'rehearsal',
    model: 'rehearsal',
    mode: 'plan',
    permission_mode: 'read-only',
    presenter: 'cli',
    harness_version: '0',
  },
}

const USAGE = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 }

function turnEvents(number: number, own: readonly EventDraft[] = []): EventDraft[] {
  const turn_id = TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x${String(number).padStart(6, '0')}`)
  const text = `Message ${number}`
  return [
    { type: 'turn_started', data: { source: { presenter: 'cli' } }, turn_id },
    ...(own.length > 0
      ? own.map((one) => ({ ...one, turn_id }))
      : [{ type: 'user_message', data: { text, prompt_mode: 'string' }, turn_id } as const]),
    { type: 'assistant_message', data: { text: `Answer ${number}.\n\n`.repeat(9) }, turn_id },
    { type: 'turn_ended', data: { status: 'completed', usage_total: USAGE }, turn_id },
  ]
}

test('a stopped server is reported in words, and so is one that serves another page', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const { page } = await appTab(server, { path: `/s/${id}` })
  await connected(page)
  await server.running.close()
  await expect
    .poll(() => page.locator('.banner').textContent())
    .toBe('Server stopped. Your draft is safe; start it with hawser up.')
  await composer(page).fill('Typed while it was away')
  expect(await composer(page).inputValue()).toBe('Typed while it was away')
  const next = await localServer({ root: server.root, app: BUILT_APP })
  const { page: other } = await appTab(next)
  await other.route(`${next.origin}/`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/new.js">' }),
  )
  await other.evaluate(`history.pushState(null, '', '/s/${id}')`)
  await other.evaluate(`dispatchEvent(new PopStateEvent('popstate'))`)
  await expect
    .poll(() => other.locator('.banner').textContent())
    .toBe('The server has another version of this page. Reload')
})

test('a Turn of another process is shown as such, and its question says where to answer it', async () => {
  const root = await freshFolder()
  const server = await localServer({ root, app: BUILT_APP })
  await newSession(server)
  const script = await bundleScript(
    new URL('../support/session/asking-child.ts', import.meta.url),
    await freshFolder(),
  )
  const child = startChild(script, { root, kind: 'tool call' })
  onTestFinished(async () => void (await child.kill()))
  const asked = await child.waitFor(({ what }) => what === 'opened')
  if (asked?.what !== 'opened') throw new Error((await child.ended).complaint)
  const { page } = await appTab(server, { path: `/s/${asked.session}` })
  await connected(page)
  expect(await page.locator('.message').textContent()).toContain('without live text')
  await expect.poll(() => page.locator('.run-state').textContent()).toBe('● running elsewhere')
  expect(await page.locator('.question').textContent()).toContain('Waiting elsewhere: write')
  expect(await page.locator('.question button').count()).toBe(0)
  await expect
    .poll(() => page.locator('.row.current .state').textContent())
    .toMatch(/^running elsewhere/)
  await child.kill()
  await page.locator('.left').waitFor()
  await expect.poll(() => page.locator('.question').count()).toBe(0)
})

test('a long Session has its own model, mode and permission in the composer, and older Turns do not move what is read', async () => {
  const root = await freshFolder()
  const server = await localServer({ root, app: BUILT_APP })
  await newSession(server)
  const all = Array.from({ length: 160 }, (_, at) => turnEvents(at + 1)).flat()
  const id = await writeLog(root, [START, ...all])
  const { page } = await appTab(server)
  await openSession(page, server.origin, id)
  await page.getByText('Message 160', { exact: true }).waitFor()
  const chosen = await page
    .locator('.choices-bar select')
    .evaluateAll((selects) => selects.map((one) => (one as { value?: string }).value))
  expect(chosen).toEqual(['rehearsal', '', 'plan', 'read-only'])
  expect(await page.locator('.turn').count()).toBeLessThan(100)
  const before = (await page.evaluate(MOVED)) as { readonly turns: number; readonly moved: number }
  expect(before.turns).toBeGreaterThan(60)
  expect(before.moved).toBeLessThanOrEqual(2)
})

/** Goes up to the first Turn that is loaded, waits for older ones, and measures how far what was read moved, in pixels. */
const MOVED = `(async () => {
  const box = document.querySelector('.transcript')
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  const count = () => document.querySelectorAll('.turn').length
  const first = document.querySelector('.turn')
  box.scrollTop = 0
  await frame()
  first.scrollIntoView()
  await frame()
  const turns = count()
  const top = first.getBoundingClientRect().top
  box.dispatchEvent(new Event('scroll'))
  for (let left = 600; count() === turns && left > 0; left -= 1) await frame()
  await frame()
  return { turns: count(), moved: Math.abs(first.getBoundingClientRect().top - top) }
})()`

function picture(number: number): Descriptor {
  const sha = createHash('sha256').update(String(number)).digest('hex')
  return Descriptor.parse({
    resource_id: `res_01kg8m2q3r4s5t6v7w8x${String(number).padStart(6, '0')}`,
    handle: `@img${number}`,
    kind: 'image',
    name: `${number}.png`,
    media_type: 'image/png',
    size_bytes: 68,
    content_sha256: sha,
    blob: `${sha}.png`,
    source: 'http',
    rehydratable: true,
  })
}

test('every attachment says in words what the model got of it', async () => {
  const root = await freshFolder()
  const server = await localServer({ root, app: BUILT_APP })
  await newSession(server)
  const resources = [1, 2, 3, 4, 5].map(picture)
  const ids = resources.map(({ resource_id }) => resource_id)
  const [, withheld, missing, refused, described] = ids
  if (!withheld || !missing || !refused || !described) throw new Error('no ids')
  const [shown] = resources
  if (shown?.kind !== 'image') throw new Error('no picture')
  const { resource_id, handle, content_sha256 } = shown
  const request: EventDraft = {
    type: 'provider_request',
    data: {
      call_index: 0,
      attempt: 1,
      dialect: 'messages',
      model: 'm',
      contract_version: 'hw1',
      cache_key: 'k',
      request_sha256: content_sha256,
      request_bytes: 1,
      shared_prefix_bytes: 0,
      projected: [{ resource_id, content_sha256, bytes: 68, lifetime: 'turn' }],
      transport: 'http',
      previous_response_id_used: false,
    },
  }
  const first: EventDraft[] = [
    { type: 'user_message', data: { text: 'Look', prompt_mode: 'blocks', resources } },
    { type: 'resource_retired', data: { resource_id: withheld, why: 'upload_denied' } },
    { type: 'resource_retired', data: { resource_id: missing, why: 'payload_missing' } },
    {
      type: 'resource_quarantined',
      data: {
        resource_id: refused,
        dialect: 'messages',
        provider_error: { message: 'bad image', status: 400 },
      },
    },
    request,
  ]
  const again: EventDraft[] = [
    { type: 'user_message', data: { text: 'Look again', prompt_mode: 'string' } },
    {
      type: 'resource_view',
      data: { resource_id, handle, by: 'model', outcome: 'projected', content_sha256 },
    },
  ]
  const id = await writeLog(root, [START, ...turnEvents(1, first), ...turnEvents(2, again)])
  const { page } = await appTab(server)
  await openSession(page, server.origin, id)
  await page.locator('.turn-end').nth(1).waitFor({ state: 'attached' })
  expect(await page.locator('.resource .state').allTextContents()).toEqual([
    'Shown to the model on this Turn',
    'Withheld: sending it to the model was not permitted',
    'Missing: its stored bytes are gone',
    'Quarantined: the provider refused it (bad image)',
    'Described only on this Turn',
    'Viewed again by the model: sent to the model on this Turn',
  ])
})

test('what another client of the same server does is shown live in every tab', async () => {
  const server = await localServer({ app: BUILT_APP })
  const id = await newSession(server)
  const { page } = await appTab(server, { path: `/s/${id}` })
  await connected(page)
  await (
    await turn(server, id, 'Say mooring')
  ).ended
  await endedTurns(page, 1)
  expect(await page.locator('.message .text').allTextContents()).toEqual(['Say mooring'])
  await expect.poll(() => page.title()).toBe('Say mooring · Hawser')
})
