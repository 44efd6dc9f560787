import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWorkspace, type Session, type SessionUpdate } from '../../../src/index.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { value } from '../../support/log/story.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

async function opened() {
  const root = await freshFolder()
  const path = join(root, 'workspace')
  await mkdir(path)
  const workspace = value(await openWorkspace(path, { home: join(root, 'home'), env: {} }))
  onTestFinished(() => workspace.close())
  return { root, path, workspace }
}

/** The first update for which `wanted` returns a value. */
async function first<T>(
  session: Session,
  wanted: (update: SessionUpdate) => T | undefined,
): Promise<T> {
  for await (const update of session.stream({ after_seq: -1 })) {
    const found = wanted(update)
    if (found !== undefined) return found
  }
  throw new Error('the stream ended')
}

const asked = (update: SessionUpdate) =>
  update.kind === 'ephemeral' && update.ephemeral.type === 'permission_requested'
    ? update.ephemeral.data
    : undefined

test('a program sends an attachment, answers a question, steers, and gets the result', async () => {
  const { path, workspace } = await opened()
  const session = value(await workspace.create({ permission: 'ask', answers: true }))
  const png = { from: 'bytes', name: 'tide.png', bytes: TINY_IMAGES.png } as const
  const { turn, done } = value(
    await session.admit('Write "noon" to tide.txt', {
      attachments: [png],
      user: { id: '7', name: 'Ada' },
    }),
  )
  const question = await first(session, asked)
  expect(question).toMatchObject({ tool: 'write', paths: ['tide.txt'] })
  expect(session.questions).toEqual([question])
  expect(session.steer('And be brief.')).toBe(true)
  value(await session.answer(question.request_id, { choice: 1 }))
  const second = await session.answer(question.request_id, { choice: 1 })
  expect(second).toMatchObject({ ok: false, error: { kind: 'question_closed' } })
  const result = value(await done)
  expect(result).toMatchObject({ turn_id: turn, status: 'completed' })
  expect(await readFile(join(path, 'tide.txt'), 'utf8')).toContain('noon')
  const [resource] = value(await session.resources())
  expect(resource?.descriptor.name).toBe('tide.png')
  expect(value(await session.resourceBytes(resource?.descriptor.handle ?? ''))).toEqual(
    TINY_IMAGES.png,
  )
  const started = await first(session, (update) =>
    update.kind === 'event' && update.event?.type === 'turn_started' ? update.event : undefined,
  )
  expect(started.data.source).toEqual({ presenter: 'library', user: { id: '7', name: 'Ada' } })
  await session.close()
})

test('a program interrupts a Turn that waits for an answer', async () => {
  const { workspace } = await opened()
  const session = value(await workspace.create({ permission: 'ask', answers: true }))
  const { done } = value(await session.admit('Write "noon" to tide.txt'))
  await first(session, asked)
  session.interrupt()
  expect(value(await done).status).toBe('interrupted')
  const decided = await first(session, (update) =>
    update.kind === 'event' && update.event?.type === 'permission_decision'
      ? update.event.data
      : undefined,
  )
  expect(decided).toMatchObject({ decision: 'denied', by: 'interrupt' })
  await session.close()
})

test('settings that a program changes are recorded and stay', async () => {
  const { root, path, workspace } = await opened()
  const session = value(await workspace.create())
  value(await session.change({ title: 'Tides', effort: 'low', permission_mode: 'read-only' }))
  expect(await session.change({ title: 'two\nlines' })).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args' },
  })
  const { done } = value(await session.admit('Hello', { settings: { effort: 'high' } }))
  value(await done)
  const { id } = session
  await session.close()
  await workspace.close()
  const again = value(await openWorkspace(path, { home: join(root, 'home'), env: {} }))
  const resumed = value(await again.resume(id.slice(-6)))
  expect(resumed.state).toMatchObject({
    title: 'Tides',
    effort: 'high',
    permission_mode: 'read-only',
    turns: 1,
  })
  const efforts: (string | undefined)[] = []
  for await (const update of resumed.stream({ after_seq: -1 })) {
    if (update.kind !== 'event') continue
    if (update.event?.type === 'prompt_surface') efforts.push(update.event.data.params.effort)
    if (update.raw.seq === resumed.lastSeq) break
  }
  expect(efforts).toEqual([undefined, 'low', 'high'])
  await again.close()
})

test('a program compacts and proves a Session, and finds it in the list', async () => {
  const { workspace } = await opened()
  const session = value(await workspace.create())
  for (let turn = 0; turn < 6; turn++) {
    const { done } = value(await session.admit(`Remember: ${'tide '.repeat(1_000)}`))
    value(await done)
  }
  expect(value(await session.compact()).compactable).toBe(true)
  const proof = value(await session.verify({ requests: true }))
  expect(proof.log).toMatchObject({ compactions: 1, unknown: 0 })
  expect(proof.requests?.mismatches ?? []).toEqual([])
  value(await session.undoCompaction())
  expect((await workspace.list()).map(({ id }) => id)).toEqual([session.id])
  await session.close()
  value(await workspace.delete(session.id))
  expect(await workspace.list()).toEqual([])
})

test('a failure is a value with one error type', async () => {
  const { root, workspace } = await opened()
  await writeFile(join(root, 'file'), '')
  const failures = [
    await openWorkspace(join(root, 'file'), { home: join(root, 'home'), env: {} }),
    await workspace.resume('ses_01kg8m2q3r4s5t6v7w8x9y0z12'),
    await workspace.resume('../../etc/passwd'),
    await workspace.answer('req_none', { choice: 1 }),
    await workspace.delete('latest'),
    await workspace.verify('../../etc/passwd'),
  ]
  expect(failures.map((one) => (one.ok ? 'ok' : one.error.kind))).toEqual([
    'not_regular_file',
    'not_found',
    'invalid_args',
    'not_found',
    'invalid_args',
    'invalid_args',
  ])
})

test('a Session is resumed while another process runs a Turn in it', async () => {
  const { root, path, workspace } = await opened()
  const session = value(await workspace.create({ permission: 'ask', answers: true }))
  const { done } = value(await session.admit('Write "noon" to tide.txt'))
  const question = await first(session, asked)
  const other = value(await openWorkspace(path, { home: join(root, 'home'), env: {} }))
  const watching = value(await other.resume(session.id))
  expect(await watching.change({})).toMatchObject({ ok: true })
  const ended = first(watching, (update) =>
    update.kind === 'event' && update.event?.type === 'turn_ended' ? update.event.data : undefined,
  )
  value(await session.answer(question.request_id, { choice: 1 }))
  expect((await ended).status).toBe('completed')
  expect(value(await done).status).toBe('completed')
  await other.close()
})

test('a repeated message gets the result of its own Turn, also from before a checkpoint', async () => {
  const { workspace } = await opened()
  const session = value(await workspace.create())
  const key = { messageKey: 'first' } as const
  const result = value(await value(await session.admit('What is in this folder?', key)).done)
  for (let turn = 0; turn < 6; turn++) {
    const { done } = value(await session.admit(`Remember: ${'tide '.repeat(1_000)}`))
    value(await done)
  }
  expect(value(await value(await session.admit('', key)).done)).toEqual(result)
  expect(value(await session.compact()).compactable).toBe(true)
  expect(value(await value(await session.admit('', key)).done)).toEqual(result)
  await session.close()
})

/** As a program without types would call it. */
const untyped = (input: unknown) => JSON.parse(JSON.stringify(input)) as never

test('what does not match its type is refused, and nothing is recorded', async () => {
  const { workspace } = await opened()
  const session = value(await workspace.create())
  const before = session.lastSeq
  const kinds = [
    await workspace.create(untyped({ permission: 'root' })),
    await workspace.create(untyped({ extra: 1 })),
    await workspace.resume(session.id, untyped({ answers: 'yes' })),
    await session.change(untyped({ effort: 'huge' })),
    await session.change(untyped({ title: 7 })),
    await session.admit(untyped(7)),
    await session.admit('Hello', untyped({ whenBusy: 'later' })),
    await session.admit(
      'Hello',
      untyped({ attachments: [{ from: 'bytes', name: 'a', bytes: 'x' }] }),
    ),
    await session.answer('req_none', untyped({ choice: 'yes' })),
  ].map((one) => (one.ok ? 'ok' : one.error.kind))
  expect(new Set(kinds)).toEqual(new Set(['invalid_args']))
  const long = await session.admit('Hello', { channel: 'c'.repeat(100_000) })
  expect(long).toMatchObject({ ok: false, error: { kind: 'too_large' } })
  expect(session.lastSeq).toBe(before)
})
