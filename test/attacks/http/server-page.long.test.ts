import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newSecret } from '../../../src/host/server/secret.ts'
import { NOBODY } from '../../support/cli/program.ts'
import { attackedServer, type AttackedServer } from './server-scene.ts'

const USERS = [
  { name: 'as this user', uid: undefined },
  ...(process.getuid?.() === 0 ? [{ name: 'as an unprivileged user', uid: NOBODY }] : []),
]

const JSON_TYPE = { 'Content-Type': 'application/json' }

/** A request of somebody who does not have the token. */
function post({ ask }: AttackedServer, path: string, body: unknown, headers = {}) {
  return ask({
    method: 'POST',
    path,
    headers: { Authorization: '', ...JSON_TYPE, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

describe.each(USERS)('the page of the local server $name', ({ uid }) => {
  test('gets the token for its code once, and no other client gets it', async () => {
    const server = await attackedServer(uid)
    const { port, token, root } = server
    const lock = join(root, 'home', 'hawserd.lock')
    expect(((await stat(lock)).mode & 0o777).toString(8)).toBe('600')
    const { control } = JSON.parse(await readFile(lock, 'utf8')) as { control: string }

    for (const path of ['/control/page', '/control/stop']) {
      for (const wrong of ['', token, newSecret(), control.slice(1), `${control}x`]) {
        expect((await post(server, path, { control: wrong })).status).toBe(403)
      }
      for (const bad of ['', '{}', '{"control":null}', `{"control":"${control}","a":1}`, '[]']) {
        expect([bad, (await post(server, path, bad)).status]).toEqual([bad, 400])
      }
      const Origin = `http://localhost:${port}.evil.example`
      const foreign = await post(server, path, { control }, { Origin })
      const plain = await post(server, path, { control }, { 'Content-Type': 'text/plain' })
      expect([foreign.status, plain.status]).toEqual([403, 415])
    }

    const issued = await post(server, '/control/page', { control })
    const { code } = JSON.parse(issued.body) as { code: string }
    const exchange = (body: unknown, headers = {}) => post(server, '/page/token', body, headers)
    const attacks = [
      ...[newSecret(), '', code.slice(1), `${code}=`, token, control].map((guess) =>
        exchange({ code: guess }),
      ),
      ...[
        'http://evil.example',
        'null',
        `http://127.0.0.1:${port}0`,
        `https://localhost:${port}`,
      ].map((Origin) => exchange({ code }, { Origin })),
      ...['evil.example', `localhost.evil.example:${port}`, '127.0.0.1'].map((Host) =>
        exchange({ code }, { Host }),
      ),
    ]
    for (const { status, body } of await Promise.all(attacks)) {
      expect([status, body.includes(token)]).toEqual([403, false])
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      expect((await exchange({ code }, { 'Content-Type': type })).status).toBe(415)
    }
    for (const bad of [
      { code: [code] },
      { code, token: true },
      { __proto__: { code } },
      `"${code}"`,
    ]) {
      expect((await exchange(bad)).status).toBe(400)
    }
    const inUrl = await server.ask({
      path: `/page/token?code=${code}`,
      headers: { Authorization: '' },
    })
    expect(inUrl.status).toBe(401)

    // None of these used it up. Two at once: one gets it.
    const Origin = `http://127.0.0.1:${port}`
    const both = await Promise.all([exchange({ code }, { Origin }), exchange({ code }, { Origin })])
    const got = both
      .filter(({ status }) => status === 200)
      .map(({ body }): unknown => JSON.parse(body))
    expect(got).toEqual([{ ok: true, token }])
    expect((await exchange({ code }, { Origin })).status).toBe(403)
    const log = await readFile(join(root, 'home', 'logs', 'server.ndjson'), 'utf8')
    expect([code, control, token].filter((secret) => log.includes(secret))).toEqual([])
    expect((await server.ask({ path: '/healthz' })).status).toBe(200)
  })
})
