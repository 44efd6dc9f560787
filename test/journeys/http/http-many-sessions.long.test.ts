import { queryObjects } from 'node:v8'
import { expect, test } from 'vitest'
import { LiveSession } from '../../../src/session/live/live-session.ts'
import { localServer } from '../../support/http/local-server.ts'
import { newSession, turn, watch } from '../../support/http/stream-client.ts'
import { numbersBetween } from '../../support/session/watching.ts'

const SESSIONS = 200
const EVENTS = 50

test('200 Sessions at once: each reader gets 50 Events in order, and no idle Session stays open', async () => {
  const server = await localServer()
  const sessions: { id: string; reader: Awaited<ReturnType<typeof watch>> }[] = []
  for (let at = 0; at < SESSIONS; at += 1) {
    const id = await newSession(server)
    sessions.push({ id, reader: await watch(server, id) })
  }
  expect(queryObjects(LiveSession)).toBe(SESSIONS)
  await Promise.all(
    sessions.map(async ({ id, reader }) => {
      while (reader.ids.length < EVENTS) {
        const ends = reader.of('process:exit').length
        await (
          await turn(server, id, 'Hello')
        ).ended
        await reader.until(() => reader.of('process:exit').length > ends)
      }
    }),
  )
  for (const { reader } of sessions) {
    expect(reader.ids).toEqual(numbersBetween(-1, reader.ids.length - 1))
    expect(reader.names).not.toContain('resync')
  }
  await Promise.all(sessions.map(({ reader }) => reader.cut()))
  await expect.poll(() => queryObjects(LiveSession), { timeout: 60_000 }).toBe(0)
})
