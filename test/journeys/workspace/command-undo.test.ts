import {
  access,
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { withClock } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { wayPlace, WAYS } from '../../support/providers/ways.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const

async function say(session: Session, text: string): Promise<void> {
  const admitted = value(await session.admit(text))
  expect(value(await admitted.done).status).toBe('completed')
}

function turnsOf({ events }: Session) {
  return events.flatMap((event) => (event.type === 'turn_started' ? [event.turn_id] : []))
}

test.each(WAYS)(
  '%s: after rm -rf, undo restores bytes, modes, links and empty folders, diff shows the loss, and redo repeats it',
  async (way) => {
    const place = await wayPlace(way)
    const path = (name: string) => join(place.workspace, name)
    await mkdir(path('src/empty'), { recursive: true })
    await writeFile(path('src/main.sh'), 'echo one\n')
    await chmod(path('src/main.sh'), 0o755)
    await writeFile(path('src/data.bin'), Buffer.from([0, 255, 254, 10]))
    await symlink('main.sh', path('src/link'))
    await writeFile(path('other.txt'), 'stays\n')
    const session = value(await place.harness.create({ ...place.begin, permissionMode: 'auto' }))
    await say(session, 'Write "new" to b.txt')
    await say(session, 'Run `rm -rf src`')

    const lost = value(await session.diff(turnsOf(session)[1]))
    expect(lost.uncovered).toEqual([])
    expect(lost.files.map((file) => [file.path, file.change])).toEqual([
      ['src/data.bin', 'removed'],
      ['src/link', 'removed'],
      ['src/main.sh', 'removed'],
    ])
    expect(lost.files[2]?.diff).toContain('-echo one\n')

    const undone = value(await session.undo())
    expect(undone.files.every(({ outcome }) => outcome === 'restored')).toBe(true)
    expect(await readFile(path('src/main.sh'), 'utf8')).toBe('echo one\n')
    expect((await stat(path('src/main.sh'))).mode & 0o777).toBe(0o755)
    expect([...(await readFile(path('src/data.bin')))]).toEqual([0, 255, 254, 10])
    expect(await readlink(path('src/link'))).toBe('main.sh')
    expect((await stat(path('src/empty'))).isDirectory()).toBe(true)
    expect(await readFile(path('b.txt'), 'utf8')).toBe('new')
    expect(value(await session.diff()).files.map((file) => file.path)).toEqual(['b.txt'])

    value(await session.redo())
    await expect(access(path('src'))).rejects.toThrow('ENOENT')
    expect(await session.redo()).toMatchObject({ error: { kind: 'not_found' } })
    value(await session.undo())
    expect(await readFile(path('src/main.sh'), 'utf8')).toBe('echo one\n')
    const next = value(await session.preview('What now?'))
    expect(next.body.toString('utf8')).toContain('undid file changes')
    await say(session, 'List all files')
    await verified(place, session)
  },
)

test('the last change is undone, by a command of the person, then the Turn before it', async () => {
  const place = await harnessPlace()
  const path = (name: string) => join(place.workspace, name)
  await writeFile(path('a.txt'), 'one\n')
  const session = value(await place.harness.create(BEGIN))
  await say(session, 'Replace "one" with "two" in a.txt and then run `printf made > made.txt`')
  value(await session.runCommand('rm a.txt'))

  const own = value(await session.undo())
  expect(own).toMatchObject({ files: [{ path: 'a.txt', outcome: 'restored' }] })
  expect(own.undone_command_id).toMatch(/^cmd_/)
  expect(await readFile(path('a.txt'), 'utf8')).toBe('two\n')
  const turn = value(await session.undo())
  expect(turn.undone_turn_id).toBe(turnsOf(session)[0])
  expect(await readFile(path('a.txt'), 'utf8')).toBe('one\n')
  await expect(access(path('made.txt'))).rejects.toThrow('ENOENT')
  expect(await session.undo()).toMatchObject({ error: { kind: 'not_found' } })
  value(await session.redo())
  value(await session.redo())
  await expect(access(path('a.txt'))).rejects.toThrow('ENOENT')
  expect(await readFile(path('made.txt'), 'utf8')).toBe('made')
})

test('what a person changed since is left alone, and only force replaces it', async () => {
  const place = await harnessPlace()
  const path = (name: string) => join(place.workspace, name)
  await writeFile(path('a.txt'), 'one\n')
  await writeFile(path('b.txt'), 'one\n')
  const session = value(await place.harness.create(BEGIN))
  await say(session, 'Run `printf two > a.txt; printf two > b.txt`')
  await writeFile(path('a.txt'), 'mine\n')
  const outcomes = (files: readonly { readonly path: string; readonly outcome: string }[]) =>
    files.map((file) => [file.path, file.outcome])
  expect(outcomes(value(await session.undo()).files)).toEqual([
    ['a.txt', 'changed_since'],
    ['b.txt', 'restored'],
  ])
  expect(await readFile(path('a.txt'), 'utf8')).toBe('mine\n')
  expect(outcomes(value(await session.undo(undefined, { force: true })).files)).toEqual([
    ['a.txt', 'restored'],
    ['b.txt', 'restored'],
  ])
  expect(await readFile(path('a.txt'), 'utf8')).toBe('one\n')
  // What was replaced is not lost.
  value(await session.redo())
  expect(await readFile(path('a.txt'), 'utf8')).toBe('mine\n')
})

test('an edit of a person between two commands of a Turn is a conflict, although the file is as the Turn left it', async () => {
  const place = await harnessPlace()
  const path = join(place.workspace, 'a.txt')
  await writeFile(path, 'one\n')
  const session = value(await place.harness.create(BEGIN))
  await say(session, 'Run `printf "two\\n" >> a.txt`')
  await writeFile(path, 'one\ntwo\nmine\n')
  await say(session, 'Run `printf "three\\n" >> a.txt`')
  const [first] = turnsOf(session)
  const undone = value(await session.undo(first, { onwards: true }))
  expect(undone.files).toMatchObject([{ path: 'a.txt', outcome: 'changed_since' }])
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\nmine\nthree\n')
})

test('undo --to restores the state before a Turn, by whatever means it changed since', async () => {
  const place = await harnessPlace()
  const path = (name: string) => join(place.workspace, name)
  await writeFile(path('a.txt'), 'one\n')
  const session = value(await place.harness.create(BEGIN))
  await say(session, 'Write "kept" to kept.txt')
  await say(session, 'Replace "one" with "two" in a.txt')
  await say(session, 'Run `mkdir d; mv a.txt d/a.txt`')
  value(await session.runCommand('rm -r d'))
  const undone = value(await session.undo(turnsOf(session)[1], { onwards: true }))
  expect(undone.onwards).toBe(true)
  expect(await readFile(path('a.txt'), 'utf8')).toBe('one\n')
  expect(await readFile(path('kept.txt'), 'utf8')).toBe('kept')
  await expect(access(path('d'))).rejects.toThrow('ENOENT')
  expect(value(await session.diff()).files.map((file) => file.path)).toEqual(['kept.txt'])
  value(await session.redo())
  await expect(access(path('a.txt'))).rejects.toThrow('ENOENT')
})

test('a command that removes half of the workspace is named at once, with the way back', async () => {
  const place = await harnessPlace()
  for (const name of ['a', 'b', 'c', 'd']) await writeFile(join(place.workspace, name), name)
  const session = value(await place.harness.create(BEGIN))
  await say(session, 'Run `rm a b c`')
  const notices = session.events.flatMap(({ type, data }) => (type === 'notice' ? [data] : []))
  expect(notices.find(({ code }) => code === 'files_removed')?.text).toMatch(
    /removed 3 of 4 files \(a, b, c\).*hawser undo/,
  )
})

test('a command that runs with everything read-only takes no snapshot', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create({ ...BEGIN, permissionMode: 'read-only' }))
  await say(session, 'Run `ls`')
  expect(session.events.some(({ type }) => type === 'workspace_snapshot')).toBe(false)
  await expect(access(join(place.root, 'home', 'snapshots'))).rejects.toThrow('ENOENT')
})

test('gc deletes the snapshots of deleted Sessions, and none of those that one mentions', async () => {
  const place = await harnessPlace()
  const packs = async () => {
    const [store = ''] = await readdir(join(place.root, 'home', 'snapshots'))
    const names = await readdir(join(place.root, 'home', 'snapshots', store))
    return names.filter((name) => name.endsWith('.pack'))
  }
  await writeFile(join(place.workspace, 'a.txt'), 'one\n')
  const session = value(await place.harness.create(BEGIN))
  await say(session, 'Run `rm a.txt`')
  const later = withClock(place.parts, { ...systemClock, now: () => Date.now() + 7_200_000 })
  const harness = new Harness(later)
  expect(value(await harness.gc({ dryRun: false })).snapshot_bytes).toBe(0)
  expect(await packs()).not.toEqual([])
  value(await session.undo())
  await session.close()
  value(await place.harness.delete(session.id))
  expect(value(await harness.gc({ dryRun: false })).snapshot_bytes).toBeGreaterThan(0)
  expect(await packs()).toEqual([])
  // A process that knew them notices.
  const next = value(await place.harness.create(BEGIN))
  await say(next, 'Run `rm a.txt`')
  value(await next.undo())
  expect(await readFile(join(place.workspace, 'a.txt'), 'utf8')).toBe('one\n')
})

test('after a kill, the changes of the command are found by the next holder, who says that others may have made them', async () => {
  const place = await harnessPlace()
  await writeFile(join(place.workspace, 'a.txt'), 'one\n')
  const session = value(await place.harness.create(BEGIN))
  await say(session, 'Run `true`')
  const before = session.events.flatMap(({ type, data }) =>
    type === 'workspace_snapshot' && data.after === undefined ? [data.before] : [],
  )
  // As the Log is when the process ends while the command runs.
  const data = { call_id: 'killed', ...(before[0] === undefined ? {} : { before: before[0] }) }
  value(await session.between(({ record }) => record([{ type: 'workspace_snapshot', data }])))
  await writeFile(join(place.workspace, 'a.txt'), 'two\n')
  const undone = value(await session.undo())
  expect(undone.files).toMatchObject([{ path: 'a.txt', outcome: 'restored' }])
  expect(await readFile(join(place.workspace, 'a.txt'), 'utf8')).toBe('one\n')
  const late = session.events.find(
    ({ type, data: one }) => type === 'workspace_snapshot' && 'by_others' in one,
  )
  expect(late).toMatchObject({ data: { call_id: 'killed', counts: { changed: 1 } } })
})
