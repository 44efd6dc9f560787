import { access, mkdir, readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIMITS } from '../../../src/model/limits.ts'
import type { RewindOptions } from '../../../src/session/forks/rewind.ts'
import type { Session } from '../../../src/session/session.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, WAYS, type WayPlace } from '../../support/providers/ways.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { oneOfEach, say } from '../../support/resources/sample-files.ts'

const AUTO = { permissionMode: 'auto' } as const

interface Scene {
  readonly place: WayPlace
  readonly session: Session
  readonly path: (name: string) => string
  readonly text: (name: string) => Promise<string | undefined>
}

/** Three Turns: a.txt is written, then changed and b.txt written, then b.txt changed. */
async function threeTurns(way: Parameters<typeof wayPlace>[0] = 'in process'): Promise<Scene> {
  const place = await wayPlace(way)
  const path = (name: string) => join(place.workspace, name)
  const session = value(await place.harness.create({ ...place.begin, ...AUTO }))
  for (const message of [
    'Write "one" to a.txt',
    'Write "new" to b.txt and then replace "one" with "two" in a.txt',
    'Replace "new" with "newer" in b.txt',
  ])
    expect(await say(session, message)).toBe('completed')
  const text = (name: string) => readFile(path(name), 'utf8').catch(() => undefined)
  return { place, session, path, text }
}

async function rewound({ place, session }: Scene, options: RewindOptions) {
  const result = value(await session.rewind(options))
  return { result, branch: value(await place.harness.open(result.session_id)) }
}

test('rewinding forks before a message, returns its text, and leaves Session and files as they are', async () => {
  const scene = await threeTurns()
  const { place, session, text } = scene
  const end = session.lastSeq
  const before = await scene.place.harness.fork(session.id, { turn: 1 })
  const { result, branch } = await rewound(scene, { turn: 2 })
  expect(result).toEqual({
    session_id: branch.id,
    parent_session_id: session.id,
    at_seq: value(before).at_seq,
    turn: 2,
    text: 'Write "new" to b.txt and then replace "one" with "two" in a.txt',
    resources: [],
    files: [],
    commands: [],
  })
  expect(branch.state).toMatchObject({ turns: 1, parent_session_id: session.id })
  await session.catchUp()
  expect(session.lastSeq).toBe(end)
  expect([await text('a.txt'), await text('b.txt')]).toEqual(['two', 'newer'])
  await branch.close()
  await session.close()
  await verified(place, branch)
})

test.each(WAYS)(
  '%s: with its files, everything that later Turns wrote is as it was, and the model of the branch learns it',
  async (way) => {
    const scene = await threeTurns(way)
    const { place, session, text } = scene
    const { result, branch } = await rewound(scene, { turn: 2, files: true })
    expect(result.files.map(({ path, outcome }) => [path, outcome])).toEqual([
      ['b.txt', 'restored'],
      ['a.txt', 'restored'],
    ])
    expect([await text('a.txt'), await text('b.txt')]).toEqual(['one', undefined])
    const told = branch.events.filter(({ type }) => type === 'files_restored')
    expect(told).toHaveLength(1)
    expect(told[0]?.data).toMatchObject({ rewound_from: session.id, by: 'person' })
    const body = value(await branch.preview('And now?')).body.toString('utf8')
    expect(body).toContain('withdrew the Turns that followed here')
    expect(await say(branch, 'Read a.txt')).toBe('completed')
    // The other branch has every line that it had, and no other.
    await session.catchUp()
    expect(session.events.some(({ type }) => type === 'files_restored')).toBe(false)
    // What the shared Turn wrote is the only change of the branch.
    expect(value(await branch.diff()).files.map(({ path }) => path)).toEqual(['a.txt'])
    for (const one of [branch, session]) {
      await one.close()
      await verified(place, one)
    }
  },
)

test('in a branch of a branch, the files of inherited Turns are restored too', async () => {
  const scene = await threeTurns()
  const { text } = scene
  const child = await rewound(scene, { turn: 3 })
  expect(await say(child.branch, 'Replace "newer" with "newest" in b.txt')).toBe('completed')
  // The Turn of the other branch changed b.txt in between, which this one does not know.
  const options = { turn: 2, files: true } as const
  expect(await child.branch.rewind(options)).toMatchObject({
    error: { kind: 'no_match', details: { files: ['b.txt'] } },
  })
  const below = await rewound(
    { ...scene, session: child.branch },
    { ...options, conflicts: 'overwrite' },
  )
  expect(below.result.parent_session_id).toBe(scene.session.id)
  expect(below.result.files.map(({ path, outcome }) => [path, outcome])).toEqual([
    ['b.txt', 'restored'],
    ['a.txt', 'restored'],
  ])
  expect([await text('a.txt'), await text('b.txt')]).toEqual(['one', undefined])
})

test('a file that a person changed or removed since is refused, left or overwritten, as they choose', async () => {
  const scene = await threeTurns()
  const { session, path, text } = scene
  await writeFile(path('a.txt'), 'mine')
  await unlink(path('b.txt'))
  const refused = await session.rewind({ turn: 2, files: true })
  expect(refused).toMatchObject({ error: { kind: 'no_match', details: { files: ['a.txt'] } } })
  expect((await scene.place.harness.list()).length).toBe(1)
  expect([await text('a.txt'), await text('b.txt')]).toEqual(['mine', undefined])

  const left = await rewound(scene, { turn: 2, files: true, conflicts: 'leave' })
  expect(left.result.files.map((file) => [file.path, file.outcome])).toEqual([
    ['b.txt', 'restored'],
    ['a.txt', 'changed_since'],
  ])
  expect(await text('a.txt')).toBe('mine')

  const overwritten = await rewound(scene, { turn: 2, files: true, conflicts: 'overwrite' })
  expect(overwritten.result.files.map(({ outcome }) => outcome)).toEqual(['restored', 'restored'])
  expect(await text('a.txt')).toBe('one')
  // What was overwritten is stored, and the branch can bring it back.
  value(await overwritten.branch.redo())
  expect(await text('a.txt')).toBe('mine')
})

test('a change of a person between two Turns is not lost either, although a later Turn wrote the file', async () => {
  const scene = await threeTurns()
  const { session, path, text } = scene
  await writeFile(path('a.txt'), 'two and mine')
  expect(await say(session, 'Replace "two" with "three" in a.txt')).toBe('completed')
  expect(await session.rewind({ turn: 2, files: true })).toMatchObject({
    error: { kind: 'no_match', details: { files: ['a.txt'] } },
  })
  expect(await text('a.txt')).toBe('three and mine')
})

test('what was undone before stays undone, and an undo since then is reversed', async () => {
  const scene = await threeTurns()
  const { session, text } = scene
  const [, , third] = session.events.filter(({ type }) => type === 'turn_started')
  expect(await say(session, 'Write "other" to c.txt')).toBe('completed')
  value(await session.undo(third?.turn_id))
  expect(await text('b.txt')).toBe('new')
  const since = await rewound(scene, { turn: 4, files: true })
  expect(since.result.files.map(({ path, outcome }) => [path, outcome])).toEqual([
    ['c.txt', 'restored'],
    ['b.txt', 'restored'],
  ])
  expect([await text('b.txt'), await text('c.txt')]).toEqual(['newer', undefined])
})

test('commands since without snapshots are named, because what they changed is not known', async () => {
  const scene = await threeTurns()
  const { session, place } = scene
  const snapshots = join(place.root, 'home/snapshots')
  await mkdir(join(place.root, 'home'), { recursive: true, mode: 0o700 })
  await writeFile(snapshots, 'No snapshot can be stored here.')
  expect(await say(session, 'Run `touch c.txt`')).toBe('completed')
  value(await session.runCommand('touch d.txt'))
  await rm(snapshots)
  const { result } = await rewound(scene, { turn: 2, files: true })
  expect(result.commands.map(({ by, command }) => [by, command])).toEqual([
    ['model', 'touch c.txt'],
    ['person', 'touch d.txt'],
  ])
  await access(scene.path('c.txt'))
})

test('attachments of a withdrawn message are returned, and get the same handles when they are sent again', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create(place.begin))
  const files = await oneOfEach(place.workspace)
  expect(await say(session, 'Hello')).toBe('completed')
  const attachments = files.map(({ input }) => input)
  expect(await say(session, 'What is this?', { attachments })).toBe('completed')
  const result = value(await session.rewind({ turn: 2 }))
  expect(result.resources.map(({ handle, name }) => [handle, name])).toEqual([
    ['@img1', 'harbour.png'],
    ['@pdf2', 'tides.pdf'],
    ['@txt3', 'crew.txt'],
  ])
  const branch = value(await place.harness.open(result.session_id))
  expect(value(await branch.resources())).toEqual([])
  const again = result.resources.flatMap((one) =>
    one.kind === 'link'
      ? []
      : [
          {
            from: 'blob',
            name: one.name,
            blob: one.blob,
            media_type: one.media_type,
            size: one.size_bytes,
          } as const,
        ],
  )
  expect(await say(branch, 'And again?', { attachments: again })).toBe('completed')
  expect(value(await branch.resources()).map(({ descriptor: { handle } }) => handle)).toEqual([
    '@img1',
    '@pdf2',
    '@txt3',
  ])
  for (const one of [branch, session]) {
    await one.close()
    await verified(place, one)
  }
})

test('a Turn that does not exist, a summary and a running Turn are refused, each with the next step', async () => {
  const scene = await threeTurns()
  const { session } = scene
  for (const turn of [0, -1, 1.5])
    expect(await session.rewind({ turn })).toMatchObject({ error: { kind: 'invalid_args' } })
  expect(await session.rewind({ turn: 4 })).toMatchObject({
    error: { kind: 'not_found', details: { turns: 3 } },
  })
  const running = value(await session.admit('Read a.txt'))
  expect(await session.rewind({ turn: 2, files: true })).toMatchObject({
    error: { kind: 'turn_in_progress' },
  })
  // Without files, it is a fork, which waits for no Turn.
  expect((await session.rewind({ turn: 2 })).ok).toBe(true)
  value(await running.done)
})

test('rewinding before the first message leaves an empty conversation with the same settings', async () => {
  const scene = await threeTurns()
  const { branch, result } = await rewound(scene, { turn: 1, files: true })
  expect(result.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt'])
  expect(branch.state).toMatchObject({ turns: 0, title: '', permission_mode: 'auto' })
  expect(await scene.text('a.txt')).toBeUndefined()
  expect(await say(branch, 'Write "other" to a.txt')).toBe('completed')
  expect(await scene.text('a.txt')).toBe('other')
  for (const one of [branch, scene.session]) {
    await one.close()
    await verified(scene.place, one)
  }
})

test('a summary of what is left behind is taken along if asked: pinned in the branch, from recorded facts', async () => {
  const scene = await threeTurns()
  const { session, place } = scene
  expect(await say(session, 'Run `touch c.txt`')).toBe('completed')
  const plain = await rewound(scene, { turn: 2 })
  expect(await plain.branch.pinnedTexts()).toEqual([])
  const { branch } = await rewound(scene, { turn: 2, files: true, summary: true })
  const [summary = '', ...others] = await branch.pinnedTexts()
  expect(others).toEqual([])
  expect(summary).toContain('Turns 2 to 4, not shown here')
  expect(summary).toContain('changed there:\n- "a.txt"\n- "b.txt"\n')
  expect(summary).toContain('- "touch c.txt"')
  expect(value(await branch.preview('And now?')).body.toString()).toContain('left another branch')
  expect(await session.pinnedTexts()).toEqual([])
  for (const one of [branch, plain.branch, session]) {
    await one.close()
    await verified(place, one)
  }
})

test('a summary takes as many of the newest entries along as fit beside the texts that are pinned already', async () => {
  const place = await wayPlace('in process')
  const session = value(await place.harness.create({ ...place.begin, ...AUTO }))
  const pinned = 'The tide turns at six. '.repeat(300)
  value(await session.pin(pinned))
  const names = Array.from({ length: 20 }, (_, n) => `${'a-long-name-'.repeat(6)}${n}.txt`)
  for (const name of names) expect(await say(session, `Write "x" to ${name}`)).toBe('completed')
  const result = value(await session.rewind({ turn: 1, summary: true }))
  const branch = value(await place.harness.open(result.session_id))
  const [first, summary = ''] = await branch.pinnedTexts()
  expect(first).toBe(pinned)
  expect(summary).toMatch(/changed there \(the last \d+ of 20\):/)
  expect(summary).toContain(names.at(-1))
  expect(Buffer.byteLength(pinned + summary)).toBeLessThanOrEqual(LIMITS.pinned_text_bytes)
  for (const one of [branch, session]) {
    await one.close()
    await verified(place, one)
  }
})
