import { access, readFile, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { workspaceSnapshots } from '../../../src/host/snapshots/snapshots.ts'
import { causeOf, failed } from '../../../src/model/errors.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { callAnswer, keyedPlace } from '../../support/session/keyed-place.ts'
import { withChanges } from '../../support/session/harness-parts.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, WAYS } from '../../support/providers/ways.ts'

const AUTO = { permissionMode: 'auto' } as const
const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

async function say(session: Session, text: string): Promise<void> {
  const admitted = value(await session.admit(text))
  expect(value(await admitted.done).status).toBe('completed')
}

test.each(WAYS)(
  '%s: a Turn is undone file by file, the latest first, and the model is informed',
  async (way) => {
    const place = await wayPlace(way)
    const path = (name: string) => join(place.workspace, name)
    await writeFile(path('a.txt'), 'one\n')
    const session = value(await place.harness.create({ ...place.begin, ...AUTO }))
    await say(session, 'Replace "one" with "two" in a.txt')
    await say(session, 'Write "new" to b.txt and then replace "two" with "three" in a.txt')
    expect(await readFile(path('a.txt'), 'utf8')).toBe('three\n')

    const restored = value(await session.undo())
    expect(restored.files.map((file) => [file.path, file.outcome])).toEqual([
      ['b.txt', 'restored'],
      ['a.txt', 'restored'],
    ])
    expect(await readFile(path('a.txt'), 'utf8')).toBe('two\n')
    await expect(access(path('b.txt'))).rejects.toThrow('ENOENT')
    value(await session.undo())
    expect(await readFile(path('a.txt'), 'utf8')).toBe('one\n')
    expect(await session.undo()).toMatchObject({ error: { kind: 'not_found' } })

    const next = value(await session.preview('What now?'))
    expect(next.body.toString('utf8')).toContain('undid file changes')
    await say(session, 'Read a.txt')
    const proof = value(await place.harness.verify(session.id, { requests: true }))
    expect(proof.requests?.mismatches).toEqual([])
  },
)

test('several edits in one call are one change: one diff, one undo, and a line for the model', async () => {
  const place = await keyedPlace()
  const path = join(place.workspace, 'a.txt')
  await writeFile(path, 'one\ntwo\nthree\n')
  const session = value(
    await place.harness.create({ provider: 'rehearsal', model: 'rehearsal', ...AUTO }),
  )
  const edits = [
    { old_text: 'three', new_text: '3' },
    { old_text: 'one', new_text: '1' },
  ]
  const missing = { old_text: 'four', new_text: '4' }
  place.answers.push(
    callAnswer('edit', { path: 'a.txt', edits: [...edits, missing] }),
    callAnswer('edit', { path: 'a.txt', edits }),
  )
  await say(session, 'Go.')
  expect(await readFile(path, 'utf8')).toBe('1\ntwo\n3\n')
  const results = session.events.flatMap((event) =>
    event.type === 'tool_result' ? [event.data] : [],
  )
  expect(results.map(({ error, before_blob }) => [error?.kind, before_blob !== undefined])).toEqual(
    [
      ['no_match', false],
      [undefined, true],
    ],
  )
  expect(results[1]?.output).toBe('Edited a.txt: 2 replacements, +2 -2 lines (lines 1, 3).\n')
  expect(results[1]?.diff).toContain('-one\n+1\n two\n-three\n+3\n')
  const [, , last = ''] = place.requests
  expect(last).toContain('2 replacements, +2 -2 lines')
  expect(last).not.toContain('@@ -1')
  const [change] = value(await session.diff()).files
  expect(change).toMatchObject({ path: 'a.txt', diff: results[1]?.diff })
  const { files } = value(await session.undo())
  expect(files.map(({ path: name, outcome }) => [name, outcome])).toEqual([['a.txt', 'restored']])
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\nthree\n')
  await verified(place, session)
})

test.each(WAYS)(
  '%s: a file that changed since is left alone and named, and the others are restored',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create({ ...place.begin, ...AUTO }))
    await say(session, 'Write "1" to a.txt and then write "2" to b.txt and then write "3" to c.txt')
    await writeFile(join(place.workspace, 'a.txt'), 'mine')
    await unlink(join(place.workspace, 'c.txt'))
    const { files } = value(await session.undo())
    expect(files.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['a.txt', 'changed_since'],
      ['b.txt', 'restored'],
      ['c.txt', 'restored'],
    ])
    expect(await readFile(join(place.workspace, 'a.txt'), 'utf8')).toBe('mine')
    // Not completely undone, so it can be tried again.
    await writeFile(join(place.workspace, 'a.txt'), '1')
    const again = value(await session.undo())
    expect(again.files.map(({ outcome }) => outcome)).toEqual(['restored', 'restored', 'restored'])
  },
)

test.each(WAYS)(
  '%s: a link put in the place of a file or of its folder is not followed',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create({ ...place.begin, ...AUTO }))
    await say(session, 'Write "1" to a.txt')
    await writeFile(join(place.root, 'outside.txt'), '1')
    await unlink(join(place.workspace, 'a.txt'))
    await symlink(join(place.root, 'outside.txt'), join(place.workspace, 'a.txt'))
    const { files } = value(await session.undo())
    expect(files.map(({ outcome }) => outcome)).toEqual(['changed_since'])
    expect(await readFile(join(place.root, 'outside.txt'), 'utf8')).toBe('1')
  },
)

test.each(WAYS)(
  '%s: a named Turn is undone, and one that changed nothing cannot be',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create({ ...place.begin, ...AUTO }))
    await say(session, 'Write "1" to a.txt')
    await say(session, 'Write "2" to b.txt')
    await say(session, 'List all files')
    const turns = session.events.flatMap((e) => (e.type === 'turn_started' ? [e.turn_id] : []))
    value(await session.undo(turns[0]))
    await expect(access(join(place.workspace, 'a.txt'))).rejects.toThrow('ENOENT')
    expect(await readFile(join(place.workspace, 'b.txt'), 'utf8')).toBe('2')
    expect(await session.undo(turns[2])).toMatchObject({
      error: { kind: 'not_found' },
    })
  },
)

test.each(WAYS)('%s: no undo runs beside a Turn', async (way) => {
  const place = await wayPlace(way)
  const session = value(await place.harness.create({ ...place.begin, ...AUTO }))
  await say(session, 'Write "1" to a.txt')
  const turn = value(await session.admit('List all files'))
  expect(await session.undo()).toMatchObject({ error: { kind: 'turn_in_progress' } })
  await turn.done
})

test.each(WAYS)(
  '%s: the diff of a Session spans from before its first change to after its last',
  async (way) => {
    const place = await wayPlace(way)
    await writeFile(join(place.workspace, 'a.txt'), 'one\n')
    const session = value(await place.harness.create({ ...place.begin, ...AUTO }))
    await say(session, 'Replace "one" with "two" in a.txt')
    await say(session, 'Replace "two" with "three" in a.txt and then write "new" to b.txt')
    const turns = session.events.flatMap((e) => (e.type === 'turn_started' ? [e.turn_id] : []))
    const diffs = value(await session.diff()).files
    expect(diffs.map(({ path, change }) => [path, change])).toEqual([
      ['a.txt', 'changed'],
      ['b.txt', 'created'],
    ])
    expect(diffs[0]?.diff).toContain('-one\n+three\n')
    expect(value(await session.diff(turns[0])).files[0]?.diff).toContain('-one\n+two\n')
  },
)

/** Every snapshot fails, as on a full disk. */
async function withoutSnapshots() {
  const place = await harnessPlace()
  const snapshots = async () => ({
    ...workspaceSnapshots({
      workspace: place.workspace,
      home: join(place.root, 'home'),
      ids: systemIds(systemClock),
    }),
    take: async () => failed('storage_failed', 'The disk is full.'),
  })
  return { ...place, harness: new Harness(withChanges(place.parts, { tools: { snapshots } })) }
}

test('without snapshots, undo skips no Turn that ran commands, and names the commands', async () => {
  const place = await withoutSnapshots()
  const path = (name: string) => join(place.workspace, name)
  await writeFile(path('a.txt'), 'one\n')
  const session = value(await place.harness.create({ ...REHEARSAL, ...AUTO }))
  await say(session, 'Replace "one" with "two" in a.txt')
  await say(session, 'Run `printf changed > a.txt`')
  const turns = session.events.flatMap((e) => (e.type === 'turn_started' ? [e.turn_id] : []))
  const skipped = await session.undo()
  const ran = { turn: 2, turn_id: turns[1], by: 'model', command: 'printf changed > a.txt' }
  expect(skipped).toMatchObject({
    error: {
      kind: 'not_found',
      details: { turn: 1, uncovered: [ran] },
      next_actions: [{ command: `hawser undo ${session.id} 1` }],
    },
  })
  if (skipped.ok) throw new Error('undone')
  expect(skipped.error.message).toContain('Turn 2: "printf changed > a.txt"')
  expect(causeOf(skipped.error)).toEqual({ type: 'commands_since', turn: turns[0] })
  expect(await readFile(path('a.txt'), 'utf8')).toBe('changed')
  // The Turn itself is named, but it changed nothing that is recorded.
  expect(await session.undo(turns[1])).toMatchObject({
    error: { kind: 'not_found', details: { uncovered: [ran] } },
  })
  const named = value(await session.undo(turns[0]))
  expect(named.files).toMatchObject([{ path: 'a.txt', outcome: 'changed_since' }])
  expect(named.uncovered).toEqual([])
  expect(value(await session.diff()).uncovered).toEqual([ran])
  expect(value(await session.diff(turns[1]))).toMatchObject({
    files: [],
    uncovered: [ran],
  })
})

test('without snapshots, undo names the commands of the Turn that it undoes, and those of the person after it stop it', async () => {
  const place = await withoutSnapshots()
  const session = value(await place.harness.create({ ...REHEARSAL, ...AUTO }))
  await say(session, 'Write "one" to a.txt and then run `touch made`')
  const [turn] = session.events.flatMap((e) => (e.type === 'turn_started' ? [e.turn_id] : []))
  value(await session.runCommand('touch mine'))
  const person = { turn: 1, by: 'person', command: 'touch mine' }
  expect(await session.undo()).toMatchObject({
    error: { kind: 'not_found', details: { uncovered: [person] } },
  })
  const { uncovered } = value(await session.undo(turn))
  expect(uncovered).toMatchObject([{ turn: 1, by: 'model', command: 'touch made' }])
  // What a command made stays.
  await access(join(place.workspace, 'made'))
})

test('a command that runs with everything read-only stops no undo', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create({ ...REHEARSAL, ...AUTO }))
  await say(session, 'Write "one" to a.txt')
  value(await session.change({ permission_mode: 'read-only' }))
  await say(session, 'Run `ls`')
  expect(value(await session.undo()).files).toHaveLength(1)
  expect(value(await session.diff())).toMatchObject({ files: [], uncovered: [] })
})

test('a diff of the Session has no files that were undone; that of an undone Turn says so', async () => {
  const place = await harnessPlace()
  await writeFile(join(place.workspace, 'a.txt'), 'one\n')
  const session = value(await place.harness.create({ ...REHEARSAL, ...AUTO }))
  await say(session, 'Replace "one" with "two" in a.txt')
  await say(session, 'Replace "two" with "three" in a.txt and then write "new" to b.txt')
  const turns = session.events.flatMap((e) => (e.type === 'turn_started' ? [e.turn_id] : []))
  value(await session.undo())
  const left = value(await session.diff())
  expect(left.files.map(({ path, diff }) => [path, diff.includes('-one\n+two\n')])).toEqual([
    ['a.txt', true],
  ])
  expect(value(await session.diff(turns[1]))).toMatchObject({
    undone: true,
    files: [{ path: 'a.txt' }, { path: 'b.txt' }],
  })
  value(await session.undo())
  expect(value(await session.diff()).files).toEqual([])
  // A later change starts from what undo left.
  await say(session, 'Replace "one" with "four" in a.txt')
  const again = value(await session.diff())
  expect(again.files.map(({ diff }) => diff.includes('-one\n+four\n'))).toEqual([true])
})
