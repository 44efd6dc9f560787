import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { sealLine } from '../../../src/log/line.ts'
import { EventId, SessionId } from '../../../src/model/ids.ts'
import type { PermissionMode } from '../../../src/model/modes.ts'
import { appendForged, filesOf } from '../../support/log/forged-lines.ts'
import { linesOf } from '../../support/log/raw-log.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { value } from '../../support/log/story.ts'
import { say } from '../../support/resources/sample-files.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

// A fork line carries a permission mode, and a Log may come from anywhere.

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const
const PLANTED = SessionId.parse('ses_01m7zzzzzzzzzzzzzzzzzzzzzz')

type Place = Awaited<ReturnType<typeof harnessPlace>>

async function sessionWithTurn(place: Place, permissionMode: PermissionMode) {
  const session = value(await place.harness.create({ ...REHEARSAL, permissionMode }))
  expect(await say(session, 'What is 2 + 2?')).toBe('completed')
  await session.close()
  return session.id
}

/** What anyone can write who knows the Log of the parent: a fork of its end, with the widest mode. */
async function forkLine(root: string, parent: SessionId) {
  const bytes = await readFile(filesOf(root, parent).log)
  const lines = linesOf(bytes)
  const at_hash = sha256(lines.at(-1)?.subarray(0, -1) ?? Buffer.alloc(0))
  const data = {
    parent_session_id: parent,
    root_session_id: parent,
    at_seq: lines.length - 1,
    at_hash,
    at_offset: bytes.length,
    resources_count: 0,
    ...REHEARSAL,
    permission_mode: 'auto',
    mode: 'build',
  }
  return { data, seq: lines.length, prev: at_hash }
}

async function plantFork({ root }: Place, parent: SessionId): Promise<void> {
  await registerDamage(root, 'log', 'A fork is planted.')
  const { data, seq, prev } = await forkLine(root, parent)
  const id = EventId.parse('evt_01m7zzzzzzzzzzzzzzzzzzzzzz')
  const ts = '2026-01-31T12:00:00.000Z'
  const line = { id, session_id: PLANTED, ts, type: 'session_fork', data: JSON.stringify(data) }
  const path = join(filesOf(root, parent).log, '..', `${PLANTED}.ndjson`)
  await writeFile(path, sealLine(line, seq, prev, 0).bytes)
}

test('a planted fork of a Session here is foreign: it neither runs nor forks, and trust makes it ask', async () => {
  const place = await harnessPlace()
  const parent = await sessionWithTurn(place, 'read-only')
  await plantFork(place, parent)
  const { harness } = await harnessPlace({}, place.root)
  const planted = value(await harness.open(PLANTED))
  expect(planted.state).toMatchObject({ turns: 1, parent_session_id: parent })
  for (const refused of [
    await planted.admit('Write "x" to x.txt'),
    await planted.change({ title: 'mine' }),
    await harness.fork(PLANTED),
    await planted.rewind({ turn: 1 }),
    await planted.rewind({ turn: 1, files: true }),
  ])
    expect(refused).toMatchObject({ error: { kind: 'session_foreign' } })
  await planted.close()
  value(await harness.adopt(PLANTED))
  const trusted = value(await harness.open(PLANTED))
  expect(trusted.permissionMode).toBe('ask')
  await trusted.close()
  for (const [at, mode] of [
    [undefined, 'ask'],
    [{ turn: 1 }, 'read-only'],
  ] as const) {
    const { session_id } = value(await harness.fork(PLANTED, at))
    const child = value(await harness.open(session_id))
    expect(child.permissionMode).toBe(mode)
    await child.close()
  }
})

test('a fork line behind the head of a Session widens nothing, and neither does a fork of that Session', async () => {
  const place = await harnessPlace()
  const id = await sessionWithTurn(place, 'read-only')
  const { data } = await forkLine(place.root, id)
  await registerDamage(place.root, 'events', 'A fork line is planted in a Log.')
  await appendForged(place.root, id, [{ type: 'session_fork', data }])
  const { harness } = await harnessPlace({}, place.root)
  const { session_id } = value(await harness.fork(id))
  const child = value(await harness.open(session_id))
  expect(child.permissionMode).toBe('read-only')
  await child.close()
  const session = value(await harness.open(id))
  expect(session.permissionMode).toBe('read-only')
  expect(await say(session, 'What is 3 + 3?')).toBe('completed')
  expect(session.permissionMode).toBe('read-only')
  await session.close()
})

test('of a family in a cloned workspace, trust in a fork makes that fork ask, and its parent stays foreign', async () => {
  const place = await harnessPlace()
  const parent = await sessionWithTurn(place, 'auto')
  const { session_id } = value(await place.harness.fork(parent))
  for (const id of [parent, session_id]) await rm(filesOf(place.root, id).head)
  const { harness } = await harnessPlace({}, place.root)
  expect(await harness.fork(session_id)).toMatchObject({ error: { kind: 'session_foreign' } })
  value(await harness.adopt(session_id))
  const child = value(await harness.open(session_id))
  expect(child.permissionMode).toBe('ask')
  expect(await say(child, 'What is 3 + 3?')).toBe('completed')
  await child.close()
  // The point was shared by a Session that has no head here.
  const early = value(await harness.fork(session_id, { turn: 1 }))
  const below = value(await harness.open(early.session_id))
  expect(below.permissionMode).toBe('ask')
  await below.close()
  expect(await harness.fork(parent)).toMatchObject({ error: { kind: 'session_foreign' } })
})

test('a fork whose parent was replaced by another Log is damaged, and cannot run', async () => {
  const place = await harnessPlace()
  const parent = await sessionWithTurn(place, 'read-only')
  const { session_id } = value(await place.harness.fork(parent))
  await registerDamage(place.root, 'log', 'The Log of a parent is replaced.')
  const { log } = filesOf(place.root, parent)
  const text = await readFile(log, 'utf8')
  await writeFile(
    log,
    text.replace('"permission_mode":"read-only"', '"permission_mode":"auto",   "x":1'),
  )
  await rm(filesOf(place.root, session_id).index)
  const { harness } = await harnessPlace({}, place.root)
  const child = await harness.open(session_id)
  const admitted = child.ok ? await child.value.admit('Write "x" to x.txt') : child
  expect(admitted).toMatchObject({ error: { kind: 'log_damaged' } })
  expect(await harness.fork(session_id)).toMatchObject({ error: { kind: 'log_damaged' } })
})

test('a damaged Session is forked before its damage, and refused after it with the next step', async () => {
  const place = await harnessPlace()
  const id = await sessionWithTurn(place, 'ask')
  const opened = value(await place.harness.open(id))
  expect(await say(opened, 'What is 3 + 3?')).toBe('completed')
  await opened.close()
  await registerDamage(place.root, 'log', 'A line of the second Turn is changed.')
  const { log, index } = filesOf(place.root, id)
  const text = await readFile(log, 'utf8')
  await writeFile(log, text.replace('What is 3 + 3?', 'What is 3 + 4?'))
  await rm(index)
  const { harness } = await harnessPlace({}, place.root)
  for (const refused of [await harness.fork(id), await harness.fork(id, { turn: 2 })]) {
    const { error } = refused.ok ? expect.fail('forked') : refused
    expect([error.kind, error.next_actions.length > 0]).toEqual(['log_damaged', true])
  }
  const early = value(await harness.fork(id, { turn: 1 }))
  const child = value(await harness.open(early.session_id))
  expect(await say(child, 'What is 4 + 4?')).toBe('completed')
  await child.close()
})
