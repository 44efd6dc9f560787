import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { localServer, type LocalServer } from '../../../test/support/http/local-server.ts'
import { systemClock } from '../../host/clock.ts'

test('the server says that it answers, and shows a page that reveals nothing, to every user of this machine', async () => {
  const app = await freshFolder()
  await mkdir(join(app, 'assets'))
  await writeFile(join(app, 'index.html'), '<p>Hawser</p>')
  await writeFile(join(app, 'assets', 'a-1.js'), 'run()')
  const { origin, token } = await localServer({ app })
  const health = await fetch(`${origin}/healthz`)
  expect([health.status, await health.json()]).toEqual([200, { ok: true }])
  for (const path of ['/', '/s/ses_01kg8m2q3r4s5t6v7w8x9y0z12', '/s/anything']) {
    const page = await fetch(origin + path)
    const html = await page.text()
    expect([page.status, page.headers.get('content-type'), html]).toEqual([
      200,
      'text/html; charset=UTF-8',
      '<p>Hawser</p>',
    ])
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    expect(html.includes(token)).toBe(false)
  }
  const script = await fetch(`${origin}/assets/a-1.js`)
  expect([
    script.headers.get('content-type'),
    script.headers.get('x-content-type-options'),
  ]).toEqual(['text/javascript; charset=utf-8', 'nosniff'])
  for (const path of [
    '/assets/b.js',
    '/assets/..%2Findex.html',
    '/assets/%2e%2e/token',
    '/icon.svg',
  ])
    expect([path, (await fetch(origin + path)).status]).toEqual([
      path,
      expect.toBeOneOf([401, 404]),
    ])
})

test('a program that was not built serves a page that says so', async () => {
  const { origin } = await localServer()
  const html = await (await fetch(`${origin}/`)).text()
  expect(html).toContain('npm run build')
  expect(html).not.toMatch(/<script|style=|\son\w+=|https?:\/\//)
})

test('a code of the page works once, for 60 seconds, and only on the server that issued it', async () => {
  let now = 0
  const clock = { ...systemClock, monotonicMs: () => now }
  const [server, other] = [await localServer({ clock }), await localServer()]
  const redeem = async ({ origin }: LocalServer, code: string) => {
    const answer = await fetch(`${origin}/page/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ code }),
    })
    return [answer.status, await answer.json()] as const
  }
  const first = server.running.pageCode()
  expect((await redeem(other, first))[0]).toBe(403)
  now = 59_999
  expect(await redeem(server, first)).toEqual([200, { ok: true, token: server.token }])
  expect(await redeem(server, first)).toMatchObject([
    403,
    { error: { type: 'FORBIDDEN', next_actions: [{ command: 'hawser up --open' }] } },
  ])
  const second = server.running.pageCode()
  now += 60_000
  expect((await redeem(server, second))[0]).toBe(403)
  const third = server.running.pageCode()
  await server.running.close()
  const next = await localServer({ root: server.root })
  expect((await redeem(next, third))[0]).toBe(403)
})
