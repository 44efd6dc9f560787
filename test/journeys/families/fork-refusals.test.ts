import { readFile, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Result } from '../../../src/model/errors.ts'
import type { ForkAt } from '../../../src/session/forks/fork-session.ts'
import { openWorkspace } from '../../../src/index.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { filesOf } from '../../support/log/forged-lines.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { value } from '../../support/log/story.ts'
import { say } from '../../support/resources/sample-files.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const

/** The kind of a refusal that says what to do next. */
function kindOf(result: Result<unknown>): string {
  if (result.ok) return 'done'
  const { kind, next_actions } = result.error
  return next_actions.length === 0 ? `${kind}, without a next step` : kind
}

test('a place that does not exist and a Session that cannot be forked are refused with a kind and the next step', async () => {
  const place = await harnessPlace()
  const { harness, root } = place
  const session = value(await harness.create(BEGIN))
  for (const text of ['Hello', 'Thanks.']) expect(await say(session, text)).toBe('completed')
  const { id, lastSeq } = session
  await session.close()
  const places: readonly (readonly [ForkAt, string])[] = [
    [{ seq: lastSeq + 1 }, 'invalid_args'],
    [{ seq: Number.MAX_SAFE_INTEGER }, 'invalid_args'],
    [{ seq: -1 }, 'invalid_args'],
    [{ seq: 0.5 }, 'invalid_args'],
    [{ seq: NaN }, 'invalid_args'],
    // The first write has the surface, too.
    [{ seq: 0 }, 'invalid_args'],
    [{ turn: 0 }, 'invalid_args'],
    [{ turn: -1 }, 'invalid_args'],
    [{ turn: 3 }, 'not_found'],
  ]
  for (const [at, kind] of places)
    expect([at, kindOf(await harness.fork(id, at))]).toEqual([at, kind])
  for (const turn of [0, -1, 0.5])
    expect([turn, kindOf(await value(await harness.open(id)).rewind({ turn }))]).toEqual([
      turn,
      'invalid_args',
    ])
  const other = await harnessPlace()
  expect(kindOf(await other.harness.fork(id))).toBe('not_found')

  const deleted = value(await harness.fork(id)).session_id
  value(await harness.delete(deleted))
  expect(kindOf(await harness.fork(deleted))).toBe('not_found')
  const foreign = value(await harness.fork(id)).session_id
  await rm(filesOf(root, foreign).head)
  expect(kindOf(await harness.fork(foreign))).toBe('session_foreign')
  await registerDamage(root, 'log', 'A line is changed.')
  const { log, index } = filesOf(root, id)
  await writeFile(log, (await readFile(log, 'utf8')).replace('Thanks.', 'Thankx.'))
  await rm(index)
  expect(kindOf(await (await harnessPlace({}, root)).harness.fork(id))).toBe('log_damaged')
  expect((await harness.list()).length).toBe(2)
})

test('a busy Session is forked, and what needs it alone is refused with who has it', async () => {
  const { harness, parts } = await harnessPlace()
  const session = value(await harness.create(BEGIN))
  expect(await say(session, 'Hello')).toBe('completed')
  const { id, lastSeq } = session
  await session.close()
  // As a process has it while a Turn runs there.
  const lease = value(await parts.log.place.leases.take(id))
  expect(value(await harness.fork(id)).at_seq).toBe(lastSeq)
  const watching = value(await harness.open(id))
  expect(kindOf(await watching.rewind({ turn: 1 }))).toBe('done')
  for (const busy of [await watching.rewind({ turn: 1, files: true }), await harness.delete(id)]) {
    expect(kindOf(busy)).toBe('session_busy')
    expect(busy).toMatchObject({ error: { details: { holder: { pid: process.pid } } } })
  }
  await lease.release()
  expect(kindOf(await watching.rewind({ turn: 1, files: true }))).toBe('done')
  await watching.close()
})

test('a program that names a place in another form is refused', async () => {
  const workspace = value(
    await openWorkspace(await freshFolder(), { home: await freshFolder(), env: {} }),
  )
  const session = value(await workspace.create({ provider: 'rehearsal' }))
  value(await value(await session.admit('Hello')).done)
  const given: readonly unknown[] = [3, 'head', null, {}, { seq: 1, turn: 1 }, { turn: '1' }, [1]]
  for (const at of given) expect([at, (await session.fork(at as ForkAt)).ok]).toEqual([at, false])
  expect((await session.fork({ turn: 1 })).ok).toBe(true)
  await workspace.close()
})
