import { access, mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { value } from '../../support/log/story.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const

async function opened() {
  const place = await harnessPlace()
  const session = value(await place.harness.create(BEGIN))
  const path = (name: string) => join(place.workspace, name)
  const text = (name: string) => readFile(path(name), 'utf8').catch(() => undefined)
  return { session, path, text }
}

async function say(session: Session, text: string) {
  const admitted = value(await session.admit(text))
  expect(value(await admitted.done).status).toBe('completed')
  const turn = session.events.findLast((event) => event.type === 'turn_started')?.turn_id
  return turn ?? expect.fail('no Turn')
}

test('undo from a Turn on that changed nothing itself leaves earlier Turns as they are, and does not call them undone', async () => {
  const { session, text } = await opened()
  const first = await say(session, 'Write "one" to a.txt')
  const second = await say(session, 'Who are you?')
  await say(session, 'Write "two" to b.txt')
  value(await session.undo(second, { onwards: true }))
  expect([await text('a.txt'), await text('b.txt')]).toEqual(['one', undefined])
  expect(value(await session.diff(first)).undone).toBe(false)
  expect(value(await session.undo()).undone_turn_id).toBe(first)
  expect(await text('a.txt')).toBeUndefined()
})

test('redo of an undo from a Turn on leaves what was undone before undone', async () => {
  const { session, text } = await opened()
  const first = await say(session, 'Write "one" to a.txt')
  const second = await say(session, 'Write "two" to b.txt')
  const third = await say(session, 'Write "three" to c.txt')
  value(await session.undo(third))
  value(await session.undo(second, { onwards: true }))
  value(await session.redo())
  expect([await text('b.txt'), await text('c.txt')]).toEqual(['two', undefined])
  expect(value(await session.diff(third)).undone).toBe(true)
  expect(value(await session.undo()).undone_turn_id).toBe(second)
  expect(value(await session.undo()).undone_turn_id).toBe(first)
})

test('undo from a Turn on reverses an undo of an earlier Turn that came later', async () => {
  const { session, text } = await opened()
  const first = await say(session, 'Write "one" to a.txt')
  const second = await say(session, 'Write "two" to b.txt')
  value(await session.undo(first))
  value(await session.undo(second, { onwards: true }))
  expect([await text('a.txt'), await text('b.txt')]).toEqual(['one', undefined])
  expect(value(await session.diff(first)).undone).toBe(false)
})

test('a redo that leaves a changed file alone can be repeated with force', async () => {
  const { session, path, text } = await opened()
  await say(session, 'Run `printf 1 > a.txt; printf 1 > b.txt`')
  value(await session.undo())
  await writeFile(path('a.txt'), 'mine')
  const first = value(await session.redo())
  expect(first.files.map((file) => [file.path, file.outcome])).toEqual([
    ['a.txt', 'changed_since'],
    ['b.txt', 'restored'],
  ])
  expect([await text('a.txt'), await text('b.txt')]).toEqual(['mine', '1'])
  value(await session.redo({ force: true }))
  expect(await text('a.txt')).toBe('1')
  expect(await session.redo()).toMatchObject({ error: { kind: 'not_found' } })
})

test('an undo that was tried again with force is redone as one', async () => {
  const { session, path, text } = await opened()
  await say(session, 'Run `printf 1 > a.txt; printf 1 > b.txt`')
  await writeFile(path('a.txt'), 'mine')
  value(await session.undo())
  value(await session.undo(undefined, { force: true }))
  expect([await text('a.txt'), await text('b.txt')]).toEqual([undefined, undefined])
  value(await session.redo())
  expect([await text('a.txt'), await text('b.txt')]).toEqual(['mine', '1'])
})

test('an undo that restored nothing is not what redo reverses', async () => {
  const { session, text } = await opened()
  const first = await say(session, 'Write "one" to a.txt')
  value(await session.undo())
  value(await session.undo(first))
  value(await session.redo())
  expect(await text('a.txt')).toBe('one')
  expect(await session.redo()).toMatchObject({ error: { kind: 'not_found' } })
})

test('force replaces nothing that cannot be stored', async () => {
  const { session, path } = await opened()
  await say(session, 'Run `printf 1 > a.txt`')
  await truncate(path('a.txt'), 200 * 1024 * 1024)
  const { files } = value(await session.undo(undefined, { force: true }))
  expect(files).toMatchObject([{ path: 'a.txt', outcome: 'changed_since', why: 'uncovered' }])
  await access(path('a.txt'))
})

test('undo and diff name what snapshots do not cover, also if a command removed nothing else', async () => {
  const { session, path } = await opened()
  await mkdir(path('node_modules/x'), { recursive: true })
  await mkdir(path('nested/.git'), { recursive: true })
  await writeFile(path('.gitignore'), 'node_modules\n')
  await writeFile(path('a.txt'), 'one')
  await say(session, 'Run `rm a.txt`')
  const paths = [
    { path: 'nested', why: 'repository' },
    { path: 'node_modules', why: 'ignored' },
  ]
  const sorted = (all: readonly { readonly path: string }[]) =>
    all.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  expect(sorted(value(await session.diff()).notCovered.paths)).toEqual(paths)
  expect(sorted(value(await session.undo()).notCovered.paths)).toEqual(paths)
  const last = await say(session, 'Run `rm -rf node_modules`')
  expect(value(await session.diff(last))).toMatchObject({
    files: [],
    notCovered: { paths: [{ path: 'node_modules', why: 'ignored' }], count: 1 },
  })
  expect(await session.undo(last)).toMatchObject({
    error: { kind: 'not_found', message: expect.stringContaining('node_modules (ignored)') },
  })
})

test('files that a command moved are not reported as removed', async () => {
  const { session, path } = await opened()
  await mkdir(path('src'))
  for (let n = 0; n < 60; n += 1) await writeFile(path(`src/${n}`), `${n}`)
  const codes = () =>
    session.events.flatMap(({ type, data }) => (type === 'notice' ? [data.code] : []))
  await say(session, 'Run `mv src lib`')
  expect(codes()).not.toContain('files_removed')
  await say(session, 'Run `rm -r lib`')
  expect(codes()).toContain('files_removed')
})
