import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localServer } from '../../support/http/local-server.ts'
import { newSession, openStream, turn } from '../../support/http/stream-client.ts'

interface Line {
  readonly known: boolean
  readonly event: { readonly seq: number; readonly type: string }
}

test('a Session is read from its end, page by page, with the Events that its stream has', async () => {
  const server = await localServer()
  const id = await newSession(server)
  await (
    await turn(server, id, 'Say one')
  ).ended
  const stream = await openStream(server, {
    path: `/api/harness/session/${id}/events?form=log`,
  })
  await stream.until(() => stream.of('log').some((line) => typeOf(line) === 'turn_ended'))
  const all = stream.of('log')
  const page = async (query: string) => {
    const { body } = await server.api('GET', `/api/harness/session/${id}/log${query}`)
    return (body as { events: Line[] }).events
  }
  expect(await page('')).toEqual(all)
  const newest = await page('?limit=3')
  expect(newest).toEqual(all.slice(-3))
  expect(await page(`?limit=2&before_seq=${newest[0]?.event.seq}`)).toEqual(all.slice(-5, -3))
  expect(await page('?before_seq=0')).toEqual([])
  for (const query of ['?limit=0', '?limit=1001', '?before_seq=-1', '?limit=x']) {
    expect((await server.api('GET', `/api/harness/session/${id}/log${query}`)).status).toBe(400)
  }
})

test('Sessions of all workspaces are listed with what they do', async () => {
  const server = await localServer()
  const id = await newSession(server)
  await (
    await turn(server, id, 'Say one')
  ).ended
  const waiting = await newSession(server)
  const asking = await turn(server, waiting, 'Write "a" to a.txt')
  await asking.first('permission:request')
  const { body } = await server.api('GET', '/api/harness/workspaces')
  expect(body).toMatchObject({
    workspaces: [
      {
        projectRoot: server.workspace,
        sessions: expect.arrayContaining([
          expect.objectContaining({ sessionId: id, lastStatus: 'completed', questions: 0 }),
          expect.objectContaining({ sessionId: waiting, runsHere: true, questions: 1 }),
        ]),
      },
    ],
  })
})

test('files and Skills of the workspace complete a message', async () => {
  const server = await localServer()
  const id = await newSession(server)
  await mkdir(join(server.workspace, 'docs'))
  await writeFile(join(server.workspace, 'docs', 'harbour.md'), '')
  await writeFile(join(server.workspace, 'harbour.ts'), '')
  await writeFile(join(server.workspace, 'quay.ts'), '')
  const { body } = await server.api('GET', `/api/harness/session/${id}/mentions?text=HARB`)
  expect(body).toEqual({ ok: true, paths: ['harbour.ts', 'docs/harbour.md'] })
  const skills = await server.api('GET', `/api/harness/session/${id}/skills`)
  expect(skills.body).toEqual({ ok: true, skills: [] })
})

function typeOf(line: object): unknown {
  return 'event' in line && typeof line.event === 'object' && line.event !== null
    ? (line.event as { type?: unknown }).type
    : undefined
}
