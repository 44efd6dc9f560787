import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { harnessPlace } from '../../../../../test/support/session/harness-place.ts'
import { value } from '../../../../../test/support/log/story.ts'
import { failed, ok } from '../../../../model/errors.ts'
import { MessageQueue } from './message-queue.ts'
import { PendingAttachments } from './pending-attachments.ts'
import { commandNames, readCommand, runChatCommand } from './commands.ts'
import type { OwnQuestion } from '../../question/own-questions.ts'
import type { ChatActions, CommandContext } from './command-context.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

async function place() {
  const { harness, root } = await harnessPlace()
  const session = value(await harness.create(REHEARSAL))
  const actions: ChatActions = { sessions: () => harness.list(), open: (id) => harness.open(id) }
  const attached = new PendingAttachments()
  const context = {
    session,
    actions,
    attachments: attached,
    columns: 120,
    busy: false,
    confirm: async () => false,
    pick: async () => undefined,
    redraw: () => {},
    queue: new MessageQueue(),
    progress: () => {},
    colours: { theme: 'auto' as const, show: () => {} },
  }
  const run = async (name: string, argument = '', changes: Partial<CommandContext> = {}) => {
    const done = await runChatCommand(name, argument, { ...context, ...changes })
    if (!done.ok) return done.error.kind
    const rows = done.value.rows.map((row) => row.map(({ text }) => text).join(''))
    return { ...done.value, rows }
  }
  return { harness, root, session, actions, attached, run }
}

test.each([
  ['/help', { name: 'help', argument: '' }],
  ['/permission  auto ', { name: 'permission', argument: 'auto' }],
  ['/model a\nb', { name: 'model', argument: 'a\nb' }],
  ['/etc/hosts is odd', undefined],
  [' /help', undefined],
  ['/', undefined],
  ['say /help', undefined],
])('%j is read as a command or as text', (text, command) => {
  expect(readCommand(text)).toEqual(command)
})

test('only supported commands are listed, and others fail as not supported', async () => {
  const { actions, run } = await place()
  expect(commandNames(actions)).toEqual([
    'help',
    'resources',
    'sessions',
    'resume',
    'model',
    'effort',
    'theme',
    'title',
    'permission',
    'permissions',
    'plan',
    'build',
    'queue',
    'context',
    'compact',
    'verify',
    'diff',
    'init',
    'pin',
    'unpin',
    'reload',
    'undo',
    'redo',
    'exit',
    'quit',
  ])
  expect([
    await run('attach'),
    await run('fork'),
    await run('skills'),
    await run('nonsense'),
  ]).toEqual(['invalid_args', 'invalid_args', 'invalid_args', 'invalid_args'])
  expect(await run('help')).toMatchObject({
    rows: expect.arrayContaining([expect.stringMatching(/^ {2}\/undo /)]),
  })
  expect(await run('quit')).toEqual({ rows: [], leave: true })
})

test('/fork continues in a new Session that shares the Turns so far, but not while a Turn runs', async () => {
  const { harness, session, run, actions } = await place()
  value(await value(await session.admit('Hello')).done)
  const fork: NonNullable<ChatActions['fork']> = async (one) => {
    const made = await one.fork()
    return made.ok ? harness.open(made.value.session_id) : made
  }
  const changes = { actions: { ...actions, fork } }
  expect(await run('fork', '', { ...changes, busy: true })).toBe('turn_in_progress')
  const done = await run('fork', '', changes)
  const { goTo } = typeof done === 'string' ? expect.fail(done) : done
  expect(goTo?.state).toMatchObject({ parent_session_id: session.id, turns: 1, title: 'Hello' })
  await goTo?.close()
})

test('Sessions are listed and opened by number or id, but not while a Turn runs', async () => {
  const { harness, session, run } = await place()
  const other = value(await harness.create(REHEARSAL))
  const number = (await harness.list()).findIndex(({ id }) => id === other.id) + 1
  const list = await run('sessions')
  expect(list).toMatchObject({ rows: { length: 4 } })
  expect(await run('sessions', String(number))).toMatchObject({ goTo: { id: other.id } })
  expect(await run('sessions', other.id)).toMatchObject({ goTo: { id: other.id } })
  expect([
    await run('sessions', session.id),
    await run('sessions', '9'),
    await run('sessions', other.id, { busy: true }),
  ]).toEqual(['invalid_args', 'not_found', 'turn_in_progress'])
})

test('/undo asks before it undoes an older Turn than the one that ran commands', async () => {
  const { root, session, run: bare } = await place()
  value(await session.change({ permission_mode: 'auto' }))
  const snapshots = join(root, 'home/snapshots')
  await writeFile(snapshots, 'No snapshot can be stored here.')
  for (const text of ['Write "one" to a.txt', 'Run `touch made`']) {
    const { done } = value(await session.admit(text))
    expect(value(await done).status).toBe('completed')
  }
  await rm(snapshots)
  const asked: OwnQuestion[] = []
  const run = (yes: boolean) =>
    bare('undo', '', {
      confirm: async (question) => {
        asked.push(question)
        return yes
      },
    })
  expect(await run(false)).toEqual({ rows: ['Nothing was undone.'] })
  expect(asked[0]?.lines.join()).toContain('Turn 2: "touch made"')
  expect(session.events.some(({ type }) => type === 'files_restored')).toBe(false)
  expect(await run(true)).toEqual({ rows: [] })
  expect(session.events.filter(({ type }) => type === 'files_restored')).toHaveLength(1)
  // Nothing is left to undo, and this is not a question.
  expect([await run(true), asked.length]).toEqual(['not_found', 2])
})

test('texts are pinned, listed with their numbers, and unpinned by number', async () => {
  const { session, run } = await place()
  expect(await run('pin')).toEqual({ rows: ['No pinned text. To pin one: /pin TEXT.'] })
  expect(await run('pin', 'Mind the tide.')).toEqual({ rows: [] })
  expect(await run('pin', 'Coil\nthe rope.')).toEqual({ rows: [] })
  expect(await run('pin')).toEqual({
    rows: [
      '',
      '1. Mind the tide.',
      '2. Coil',
      '   the rope.',
      '2 pinned texts, 28 of 8,192 bytes.',
      '/unpin NUMBER removes one.',
    ],
  })
  expect([await run('unpin'), await run('unpin', '3')]).toEqual(['invalid_args', 'not_found'])
  expect(await run('unpin', '1')).toEqual({ rows: [] })
  expect(await session.pinnedTexts()).toEqual(['Coil\nthe rope.'])
  // The only one needs no number.
  expect(await run('unpin')).toEqual({ rows: [] })
  expect(await session.pinnedTexts()).toEqual([])
})

test('the permission mode is shown and changed, and an unknown mode is refused', async () => {
  const { session, run } = await place()
  expect(await run('permission')).toEqual({
    rows: ['ask: Hawser asks before anything is changed or run.'],
  })
  expect(await run('permission', 'auto')).toEqual({ rows: [] })
  expect([session.permissionMode, await run('permission', 'all')]).toEqual(['auto', 'invalid_args'])
})

test('the effort and the title are shown, changed, and refused if they do not fit', async () => {
  const { session, run } = await place()
  expect(await run('effort')).toEqual({ rows: [] })
  expect(await run('effort', 'hihg')).toBe('invalid_args')
  expect(await run('effort', 'high')).toEqual({ rows: [] })
  expect(await run('title')).toEqual({ rows: ['No title yet.'] })
  expect(await run('title', 'Tides')).toEqual({ rows: [] })
  expect(await run('title')).toEqual({ rows: ['Tides'] })
  expect(await run('title', 'x'.repeat(201))).toBe('invalid_args')
  expect(session.state).toMatchObject({ effort: 'high', title: 'Tides' })
  const recorded = session.events.flatMap((e) => (e.type === 'session_settings' ? [e.data] : []))
  expect(recorded).toEqual([{ effort: 'high' }, { title: 'Tides' }])
})

test('the model is shown and changed, and an unknown one only if the person confirms it', async () => {
  const { actions, run } = await place()
  expect(await run('model')).toEqual({ rows: ['This Session uses rehearsal (rehearsal).'] })
  expect(await run('model', 'other')).toBe('invalid_args')
  const requested: string[] = []
  const setModel: NonNullable<ChatActions['setModel']> = async (_session, { model }) => {
    requested.push(model)
    if (model === 'foreign') return failed('model_not_found', 'It belongs to another provider.')
    return ok(undefined)
  }
  const judgeModel: NonNullable<ChatActions['judgeModel']> = ({ model }) =>
    ok(model === 'odd' ? 'Model "odd" is not known.' : undefined)
  const withModels = { actions: { ...actions, setModel, judgeModel } }
  expect(await run('model', 'other', withModels)).toEqual({ rows: [] })
  expect(await run('model', 'odd', withModels)).toBe('refused')
  const sure = { ...withModels, confirm: async () => true }
  expect(await run('model', 'odd', sure)).toEqual({ rows: [] })
  expect(await run('model', 'foreign', withModels)).toBe('model_not_found')
  expect(requested).toEqual(['other', 'odd', 'foreign'])
})

test('an attachment is checked at once, listed by number, and can be removed', async () => {
  const { actions, attached, run } = await place()
  const attach = async (named: string) =>
    named.endsWith('.zip')
      ? failed('attachments_failed', `${named}: no`)
      : ok({ input: { from: 'path', path: named } as const, words: named })
  const withAttach = { actions: { ...actions, attach } }
  expect(await run('attach', '', withAttach)).toMatchObject({ rows: { length: 1 } })
  expect(await run('attach', 'a.zip', withAttach)).toBe('attachments_failed')
  expect(attached.waiting).toEqual([])
  expect(await run('attach', '"a b.png"', withAttach)).toEqual({
    rows: ['Attached to your next message: a b.png'],
  })
  await run('attach', String.raw`c\ d.png`, withAttach)
  expect(await run('attach', '', withAttach)).toEqual({ rows: ['[1] a b.png, [2] c d.png'] })
  expect([await run('detach', '3', withAttach), await run('detach', '', withAttach)]).toEqual([
    'invalid_args',
    'invalid_args',
  ])
  await run('detach', '1', withAttach)
  expect(attached.waiting.map(({ words }) => words)).toEqual(['c d.png'])
  await run('detach', '', withAttach)
  expect(attached.waiting).toEqual([])
})

test('rules of the Session and of the workspace are listed together and removed by number', async () => {
  const { session, harness, run } = await place()
  expect(await run('permissions')).toEqual({ rows: ['No permission rules.'] })
  const rule = { kind: 'prefix', answer: 'allow', words: ['npm', 'test'] } as const
  value(await session.rules.keep({ isAllowed: true, scope: 'session', by: 'person', rule }))
  value(await harness.rules.add({ kind: 'file', answer: 'deny', path: 'a\u202eb' }))
  expect(await run('permissions')).toEqual({
    rows: [
      '',
      '  1  allow  commands that start with `npm test` · until this process ends',
      '  2  deny   changes to a\\u{202e}b · for this workspace',
      '/permissions remove NUMBER removes one.',
    ],
  })
  expect([await run('permissions', 'remove 3'), await run('permissions', 'drop 1')]).toEqual([
    'not_found',
    'invalid_args',
  ])
  await run('permissions', 'remove 2')
  await run('permissions', 'remove 1')
  expect(value(await session.rules.list())).toEqual([])
  expect(value(await harness.rules.read())).toEqual([])
})

test('/compact shows what it did and would do, and is refused while a Turn runs', async () => {
  const { session, run } = await place()
  expect(await run('compact', '', { busy: true })).toBe('turn_in_progress')
  expect(await run('compact', 'all')).toBe('invalid_args')
  expect(await run('compact', 'undo')).toBe('not_found')
  expect(await run('compact', '')).toMatchObject({
    rows: expect.arrayContaining(['Nothing to compact.']),
  })
  const { done } = value(await session.admit(`Say this again: ${'x'.repeat(40_000)}`))
  value(await done)
  const planned = await run('compact', '--dry-run')
  expect(planned).toEqual(await run('compact', 'dry-run'))
  expect(planned).toMatchObject({
    rows: expect.arrayContaining(['Dry run: nothing was written.', 'To compact: /compact']),
  })
  expect(await run('compact', '')).toMatchObject({
    rows: expect.arrayContaining(['To undo the compaction: /compact undo']),
  })
  expect(await run('compact', '--undo')).toEqual({ rows: [] })
  expect(session.events.at(-1)?.type).toBe('compaction_undone')
})

test('/queue lists, moves, edits and removes what waits, and refuses numbers that do not exist', async () => {
  const { run } = await place()
  const queue = new MessageQueue()
  const rows = async (argument: string) => run('queue', argument, { queue })
  expect(await rows('')).toMatchObject({
    rows: ['  The queue is empty. Tab queues a message while a Turn runs.'],
  })
  for (const text of ['one', 'two', 'three']) queue.add(text)
  expect(await rows('move 3 1')).toMatchObject({ rows: ['  1. three', '  2. one', '  3. two'] })
  expect(await rows('edit 2')).toMatchObject({ draft: 'one' })
  expect(await rows('remove 2')).toMatchObject({ rows: ['  Removed: two'] })
  expect([await rows('move 1 2'), await rows('edit 7'), await rows('what')]).toEqual([
    'invalid_args',
    'invalid_args',
    'invalid_args',
  ])
  expect(await rows('clear')).toMatchObject({ rows: ['  Removed: three'] })
  expect(queue.length).toBe(0)
})
