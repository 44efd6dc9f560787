import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { localServer } from '../../support/http/local-server.ts'
import { newSession, turn } from '../../support/http/stream-client.ts'
import { value } from '../../support/log/story.ts'
import { acpPlace, newSession as newAcpSession } from '../../support/presenters/acp-editor.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import { handSource } from '../../support/session/hand-skills.ts'
import { hydrations, skillPlace } from '../../support/skills/skill-session.ts'
import { openWorkspace } from '../../../src/index.ts'
import { freshFolder } from '../../support/host/folder.ts'

const Shown = z.object({
  session: z.object({ sessionId: z.string(), parentSessionId: z.string(), turns: z.number() }),
  fork: z.object({ atSeq: z.number(), parentSessionId: z.string() }),
})

test('a program forks a Session over HTTP, at its end or after a Turn, and continues it', async () => {
  const server = await localServer()
  const id = await newSession(server)
  await (
    await turn(server, id, 'Hello')
  ).ended
  await (
    await turn(server, id, 'Thanks.')
  ).ended
  const path = `/api/harness/session/${id}/fork`
  const whole = await server.api('POST', path, {})
  expect(whole.status).toBe(201)
  expect(Shown.parse(whole.body).session).toMatchObject({ parentSessionId: id, turns: 2 })
  const first = Shown.parse((await server.api('POST', path, { turn: 1 })).body)
  expect(first.session).toMatchObject({ parentSessionId: id, turns: 1 })
  expect(first.fork.atSeq).toBeLessThan(Shown.parse(whole.body).fork.atSeq)
  const answer = await turn(server, first.session.sessionId, 'Hello again')
  await answer.ended
  const inside = await server.api('POST', path, { atSeq: first.fork.atSeq + 2 })
  expect(inside.body).toMatchObject({
    fork: { atSeq: first.fork.atSeq, askedSeq: first.fork.atSeq + 2 },
  })
  const refusals = [
    [{ atSeq: 9999 }, 400, 'invalid_args'],
    [{ turn: 7 }, 404, 'not_found'],
    [{ turn: 1, atSeq: 1 }, 400, 'invalid_args'],
    [{ turn: 0 }, 400, 'invalid_args'],
    [{ atSeq: -1 }, 400, 'invalid_args'],
  ] as const
  for (const [body, status, kind] of refusals)
    expect(await server.api('POST', path, body)).toMatchObject({
      status,
      body: { error: { kind } },
    })
  expect((await server.api('POST', path, { atSeq: -1 })).body).toMatchObject({
    error: { message: 'Invalid request: atSeq: must be at least 0.' },
  })
  const missing = await server.api(
    'POST',
    '/api/harness/session/ses_01kg8m2q3r4s5t6v7w8x9y0z12/fork',
    {},
  )
  expect(missing).toMatchObject({ status: 404, body: { error: { type: 'SESSION_NOT_FOUND' } } })
})

test('an editor forks a Session and continues the fork', async () => {
  const place = await acpPlace()
  const id = await newAcpSession(place)
  await place.editor.prompt(id, 'Hello')
  const forked = await place.editor.agent.request<object>('session/fork', {
    sessionId: id,
    cwd: place.workspace,
    mcpServers: [],
  })
  const { sessionId } = z.object({ sessionId: z.string() }).parse(forked)
  expect(sessionId).not.toBe(id)
  expect((await place.editor.prompt(sessionId, 'Thanks.')).stopReason).toBe('end_turn')
})

test('a program forks a Session with the library and resumes the fork', async () => {
  const workspace = value(
    await openWorkspace(await freshFolder(), { home: await freshFolder(), env: {} }),
  )
  const session = value(await workspace.create({ provider: 'rehearsal' }))
  value(await value(await session.admit('Hello')).done)
  const { session_id, at_seq } = value(await session.fork())
  expect(at_seq).toBe(session.lastSeq)
  const fork = value(await workspace.resume(session_id))
  expect(fork.state).toMatchObject({ parent_session_id: session.id, turns: 1 })
  value(await value(await fork.admit('Thanks.')).done)
  expect([fork.state.turns, session.state.turns]).toEqual([2, 1])
  await workspace.close()
})

test('a fork has every dynamic fact of the Turns that it shares, with its origin [SH-030]', async () => {
  const guided = {
    body: 'Follow the guide.\n',
    sources: [handSource('guide', { kind: 'file', path: 'guide.md' })],
  }
  const at = await skillPlace('in process', { guided })
  await writeFile(join(at.workspace, 'guide.md'), 'Names are short.\n')
  const session = value(await at.harness.create(at.begin))
  const skills = [{ name: 'guided', with: [{ id: 'guide' }] }]
  expect(await say(session, 'Thanks.', { skills })).toBe('completed')
  const { session_id } = value(await at.harness.fork(session.id))
  await writeFile(join(at.workspace, 'guide.md'), 'Names are long.\n')
  // Another process, on a disk without the Skill.
  const later = await skillPlace('in process', {}, { root: at.root })
  const fork = value(await later.harness.open(session_id))
  expect(hydrations(fork)).toEqual(hydrations(session))
  expect(hydrations(fork)).toMatchObject([
    { context_source_id: 'guide', status: 'ok', output: 'Names are short.\n' },
  ])
  await fork.close()
  await session.close()
  await verified(later, fork)
})
