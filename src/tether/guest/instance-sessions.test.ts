import { expect, test } from 'vitest'
import { value } from '../../../test/support/log/story.ts'
import { ok } from '../../model/errors.ts'
import type { Harness } from '../../session/harness.ts'
import type { Session } from '../../session/session.ts'
import { InstanceSessions } from './instance-sessions.ts'

const START = {
  instance: 'inst_1',
  provider: 'rehearsal',
  model: 'rehearsal',
  permission_mode: 'auto',
} as const

/** Sessions that are busy until `idle` contains their number, and the numbers of those that were closed. */
function scene() {
  const idle = new Set<number>()
  const closed: number[] = []
  let created = 0
  const create = async () => {
    const number = created++
    const session = {
      id: `ses_${number}`,
      get busy() {
        return !idle.has(number)
      },
      detach: async () => void closed.push(number),
    }
    return ok(session as unknown as Session)
  }
  const harness = { list: async () => [], create } as unknown as Harness
  return { idle, closed, sessions: new InstanceSessions(harness, START) }
}

const address = (at: number) => ({ channel: 'host', id: String(at) })

test('a Session that was opened for a message is not closed before the message is admitted', async () => {
  const { idle, closed, sessions } = scene()
  for (let at = 0; at < 32; at += 1) value(await sessions.session(address(at)))
  idle.add(32)
  const opening = sessions.session(address(32))
  await sessions.tidy(({ id }) => id === '32')
  value(await opening)
  expect(closed).toEqual([])
})

test('of more than 32 Sessions, the idle one that was used longest ago is closed', async () => {
  const { idle, closed, sessions } = scene()
  for (let at = 0; at < 33; at += 1) value(await sessions.session(address(at)))
  value(await sessions.session(address(3)))
  for (const at of [3, 5, 7]) idle.add(at)
  await sessions.tidy(() => false)
  expect(closed).toEqual([5])
})
