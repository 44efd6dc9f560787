import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { openWorkspace, type RewindOptions } from '../../../src/index.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { localServer } from '../../support/http/local-server.ts'
import { newSession, turn } from '../../support/http/stream-client.ts'
import { value } from '../../support/log/story.ts'

const Shown = z.object({
  session: z.object({ sessionId: z.string(), parentSessionId: z.string(), turns: z.number() }),
  rewind: z.looseObject({ turn: z.number(), text: z.string() }),
})

test('a program goes back over HTTP, with the files, and is asked what to do with those of a person', async () => {
  const server = await localServer()
  const id = await newSession(server, { permissionMode: 'auto' })
  for (const text of ['Write "one" to a.txt', 'Replace "one" with "two" in a.txt'])
    await (
      await turn(server, id, text)
    ).ended
  const path = `/api/harness/session/${id}/rewind`
  const conversation = await server.api('POST', path, { turn: 2 })
  expect(conversation.status).toBe(201)
  expect(Shown.parse(conversation.body)).toMatchObject({
    session: { parentSessionId: id, turns: 1 },
    rewind: { turn: 2, text: 'Replace "one" with "two" in a.txt', resources: [], files: [] },
  })
  const file = join(server.workspace, 'a.txt')
  await writeFile(file, 'mine')
  const refused = await server.api('POST', path, { turn: 2, files: true })
  expect(refused).toMatchObject({
    status: 422,
    body: { error: { kind: 'no_match', details: { files: ['a.txt'] } } },
  })
  expect(await readFile(file, 'utf8')).toBe('mine')
  const overwritten = await server.api('POST', path, {
    turn: 2,
    files: true,
    conflicts: 'overwrite',
  })
  expect(overwritten.body).toMatchObject({
    rewind: { files: [{ path: 'a.txt', outcome: 'restored' }], uncoveredCommands: [] },
  })
  expect(await readFile(file, 'utf8')).toBe('one')
  const refusals = [
    [{ turn: 0 }, 400, 'invalid_args'],
    [{}, 400, 'invalid_args'],
    [{ turn: 2, conflicts: 'leave' }, 400, 'invalid_args'],
    [{ turn: 9 }, 404, 'not_found'],
  ] as const
  for (const [body, status, kind] of refusals)
    expect(await server.api('POST', path, body)).toMatchObject({
      status,
      body: { error: { kind } },
    })
  const missing = '/api/harness/session/ses_01kg8m2q3r4s5t6v7w8x9y0z12/rewind'
  expect(await server.api('POST', missing, { turn: 1 })).toMatchObject({ status: 404 })
})

test('a program goes back with the library and continues the branch', async () => {
  const workspace = value(
    await openWorkspace(await freshFolder(), { home: await freshFolder(), env: {} }),
  )
  const session = value(await workspace.create({ provider: 'rehearsal' }))
  for (const text of ['Hello', 'Thanks.']) value(await value(await session.admit(text)).done)
  const rewound = value(await session.rewind({ turn: 2, files: true }))
  expect(rewound).toMatchObject({ text: 'Thanks.', files: [], parent_session_id: session.id })
  const branch = value(await workspace.resume(rewound.session_id))
  value(await value(await branch.admit('Thanks a lot.')).done)
  expect([branch.state.turns, session.state.turns]).toEqual([2, 2])
  const wrong: object = { turn: 1, when: 'now' }
  expect(await session.rewind(wrong as RewindOptions)).toMatchObject({
    error: { kind: 'invalid_args' },
  })
  await workspace.close()
})
