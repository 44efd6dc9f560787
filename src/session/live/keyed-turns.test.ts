import { expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace } from '../../../test/support/log/log-place.ts'
import { value } from '../../../test/support/log/story.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { SessionId, TurnId } from '../../model/ids.ts'
import type { AdmittedTurn } from '../admission/admit-options.ts'
import { KeyedTurns } from './keyed-turns.ts'

const SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

async function keyedTurns(): Promise<KeyedTurns> {
  const { place, store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const parts = { place, store, secrets: [] }
  return new KeyedTurns(parts, { id: SESSION, events: [], recordedText: (text) => text })
}

async function admitted(): Promise<Result<AdmittedTurn>> {
  return ok({ turn: TURN, done: new Promise(() => {}) })
}

test('a message whose admission failed or threw does not occupy its key', async () => {
  const keyed = await keyedTurns()
  const refused = await keyed.once('key', async () => failed('session_busy', 'Busy.'))
  expect(refused).toMatchObject({ error: { kind: 'session_busy' } })
  const thrown = keyed.once('key', async () => {
    throw new Error('a defect')
  })
  await expect(thrown).rejects.toThrow('a defect')
  expect(value(await keyed.once('key', admitted)).repeated).toBeUndefined()
  expect(value(await keyed.once('key', admitted)).repeated).toBe(true)
})

test('a key is free again in memory when its Turn has ended, even without an outcome', async () => {
  const keyed = await keyedTurns()
  const done = Promise.reject(new Error('a defect'))
  value(await keyed.once('key', async () => ok({ turn: TURN, done })))
  await expect(done).rejects.toThrow('a defect')
  expect(value(await keyed.once('key', admitted)).repeated).toBeUndefined()
})
