import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { openPage } from '../../../src/presenters/cli/commands/server/page.ts'
import { hasChromium, startChromium, type BrowserTab } from '../../support/http/chromium.ts'
import { localServer } from '../../support/http/local-server.ts'
import { BUILT_APP } from '../../support/http/built-app.ts'
import { pageWorld } from '../../support/http/page-world.ts'
import { newSession } from '../../support/http/stream-client.ts'

const browserMissing = !(await hasChromium())

/** Waits until an expression of the page holds. */
function holds(tab: BrowserTab, expression: string) {
  return expect.poll(() => tab.value(expression)).toBe(true)
}

test.skipIf(browserMissing)(
  'in a real browser, the link of `up --open` signs one tab in, once, and leaves no trace',
  async () => {
    const server = await localServer({ app: BUILT_APP })
    const browser = await startChromium()
    const tab = await browser.tab()
    const { page_url: link = '' } = await openPage(
      pageWorld(server.root, server.workspace, async (path) => {
        await tab.open(`file://${path}`)
        return true
      }),
      server.origin,
      server.running.pageCode(),
    )
    await holds(tab, `document.querySelector('.new-session') !== null`)
    expect(
      await tab.value(
        `[location.href, sessionStorage.getItem('hawser.token'), localStorage.length, document.cookie]`,
      ),
    ).toEqual([`${server.origin}/`, server.token, 0, ''])

    // The same tab keeps it; another one does not have it, and the link is used up.
    await tab.open(`${server.origin}/?again`)
    await holds(tab, `document.querySelector('.new-session') !== null`)
    const other = await browser.tab()
    await other.open(link)
    await holds(other, `document.querySelector('.problem')?.textContent.includes('used already')`)
    expect(await other.value(`document.querySelector('.new-session')`)).toBe(null)
    const log = await readFile(join(server.root, 'home', 'logs', 'server.ndjson'), 'utf8')
    expect([log.includes('code='), log.includes('defect')]).toEqual([false, false])
  },
)

/** What a page of another site tries, with the token too; each resolves to what it could read. */
const ATTEMPTS = `(async (target, token, id) => {
  const tried = (path, options) =>
    fetch(target + path, options).then((answer) => 'read ' + answer.status, () => 'refused')
  const json = { 'content-type': 'application/json' }
  const authorization = 'Bearer ' + token
  const loads = (made) => new Promise((resolve) => {
    made.onload = () => resolve('loaded')
    made.onerror = () => resolve('refused')
    document.body.append(made)
  })
  const body = JSON.stringify({ sessionId: id, message: 'Hello' })
  const list = {
    get: await tried('/api/harness/limits'),
    withToken: await tried('/api/harness/limits', { headers: { authorization } }),
    simplePost: await tried('/api/harness/turn', { method: 'POST', body }),
    jsonPost: await tried('/api/harness/turn', { method: 'POST', body, headers: { ...json, authorization } }),
    blindPost: await fetch(target + '/api/harness/turn', { method: 'POST', body, mode: 'no-cors' }).then(({ type }) => type),
    exchange: await tried('/page/token', { method: 'POST', body: '{"code":"x"}' }),
    picture: await loads(Object.assign(new Image(), { src: target + '/api/harness/limits' })),
    script: await loads(Object.assign(document.createElement('script'), { src: target + '/assets/index.js' })),
    events: await new Promise((resolve) => {
      const source = new EventSource(target + '/api/harness/session/' + id + '/events')
      source.onopen = () => resolve('opened')
      source.onerror = () => resolve('refused')
    }),
    socket: await new Promise((resolve) => {
      const socket = new WebSocket(target.replace('http', 'ws') + '/api/harness/session/' + id + '/events')
      socket.onopen = () => resolve('opened')
      socket.onerror = () => resolve('refused')
    }),
  }
  const frame = document.createElement('iframe')
  frame.src = target + '/'
  document.body.append(frame)
  await new Promise((resolve) => { frame.onload = resolve })
  let inside = 'cannot look'
  try { inside = frame.contentDocument.title } catch {}
  return { ...list, frame: inside }
})`

test.skipIf(browserMissing)(
  'in a real browser, a page of another site can neither read nor change anything here',
  async () => {
    const server = await localServer()
    const id = await newSession(server)
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Evil</title>')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void site.close())
    await once(site, 'listening')
    const address = site.address()
    const port = typeof address === 'object' ? address?.port : 0
    const browser = await startChromium()
    for (const host of ['127.0.0.1', 'localhost']) {
      const tab = await browser.tab()
      await tab.open(`http://${host}:${port}/`)
      for (const target of [server.origin, server.origin.replace('127.0.0.1', 'localhost')]) {
        const given = [target, server.token, id].map((text) => JSON.stringify(text)).join(', ')
        expect(await tab.value(`${ATTEMPTS}(${given})`)).toEqual({
          get: 'refused',
          withToken: 'refused',
          simplePost: 'refused',
          jsonPost: 'refused',
          // The page may send it, and learns nothing. The server refuses it by its type and origin.
          blindPost: 'opaque',
          exchange: 'refused',
          picture: 'refused',
          script: 'refused',
          events: 'refused',
          socket: 'refused',
          frame: 'cannot look',
        })
      }
    }
    const { body } = await server.api('GET', `/api/harness/session/${id}`)
    expect(body).toMatchObject({ session: { turns: 0 } })
  },
)
