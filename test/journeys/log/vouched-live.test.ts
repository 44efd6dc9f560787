import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { SessionId } from '../../../src/model/ids.ts'
import type { Session } from '../../../src/session/session.ts'
import { runCli } from '../../support/cli/cli.ts'
import { appendForged, coveringHead, filesOf } from '../../support/log/forged-lines.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { commandPlace } from '../../support/session/write-log.ts'

// A change of mode while other processes watch, while the home is full, and as people see it.

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const
const AUTO = { type: 'session_settings', data: { permission_mode: 'auto' } } as const

/** Resolves when a watched Session has an Event of this type. */
async function seen(session: Session, type: string, act: () => Promise<unknown>): Promise<void> {
  const watching = session.subscribe()
  await act()
  for await (const { kind, ...one } of watching)
    if (kind === 'line' && 'line' in one && one.line.content.event.type === type) break
}

/** Resolves when the state has this mode; a watcher reads the head again at least every second. */
async function untilMode(session: Session, mode: string): Promise<void> {
  await expect.poll(() => session.permissionMode, { timeout: 20_000, interval: 10 }).toBe(mode)
}

test('a watcher takes over a wider mode of another process once the head covers it', async () => {
  const first = await harnessPlace()
  const writer = value(await first.harness.create(REHEARSAL))
  expect(await say(writer, 'What is 2 + 2?')).toBe('completed')
  const other = await harnessPlace({}, first.root)
  const watcher = value(await other.harness.open(writer.id))
  const watching = watcher.subscribe()
  value(await writer.change({ permission_mode: 'auto' }))
  await untilMode(watcher, 'auto')
  value(await writer.change({ permission_mode: 'read-only' }))
  await untilMode(watcher, 'read-only')
  watching.close()
})

test('a watcher does not take over a forged mode, until the head covers it', async () => {
  const first = await harnessPlace()
  const session = value(await first.harness.create(REHEARSAL))
  expect(await say(session, 'What is 2 + 2?')).toBe('completed')
  await seen(session, 'session_settings', () => appendForged(first.root, session.id, [AUTO]))
  expect(session.permissionMode).toBe('ask')
  value(await session.catchUp())
  expect(session.permissionMode).toBe('ask')
  const { head } = filesOf(first.root, session.id)
  await writeFile(`${head}.new`, await coveringHead(first.root, session.id))
  await rename(`${head}.new`, head)
  value(await session.catchUp())
  expect(session.permissionMode).toBe('auto')
})

test('a forged line that a watcher saw is undone when it takes the lock', async () => {
  const first = await harnessPlace()
  const session = value(await first.harness.create(REHEARSAL))
  expect(await say(session, 'What is 2 + 2?')).toBe('completed')
  await seen(session, 'session_settings', () => appendForged(first.root, session.id, [AUTO]))
  await seen(session, 'notice', () => say(session, 'What is 3 + 3?'))
  expect(session.permissionMode).toBe('ask')
  expect(session.events.filter(isNotVouched)).toHaveLength(1)
})

function isNotVouched({ type, data }: Session['events'][number]): boolean {
  return type === 'notice' && data.code === 'not_vouched'
}

test('a mode set during a Turn while the head cannot be written is refused and undone', async () => {
  const place = await harnessPlace()
  const session = value(await place.harness.create({ ...REHEARSAL, permissionMode: 'read-only' }))
  const { head } = filesOf(place.root, session.id)
  const before = await readFile(head)
  const watching = session.subscribe()
  const { done } = value(await session.admit('What is 2 + 2?'))
  for await (const one of watching)
    if (one.kind === 'line' && one.line.content.event.type === 'provider_request') break
  await putFolderAt(head)
  const changed = await session.change({ permission_mode: 'auto' })
  expect(changed).toMatchObject({ ok: false, error: { kind: 'storage_failed' } })
  expect(session.permissionMode).toBe('read-only')
  await rm(head, { recursive: true })
  await writeFile(head, before)
  value(await done)
  await session.close()
  const again = await harnessPlace({}, place.root)
  const resumed = value(await again.harness.open(session.id))
  expect(resumed.permissionMode).toBe('read-only')
  expect(resumed.events.filter(isNotVouched)).toHaveLength(1)
})

/** With a folder in its place, not even root can write the head. A Turn may write it before the folder exists. */
async function putFolderAt(head: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await rm(head, { recursive: true, force: true })
    const made = await mkdir(head).then(
      () => true,
      () => false,
    )
    if (made) return writeFile(`${head}/full`, '')
  }
  throw new Error('the head was written again and again')
}

test('a salvaged Session keeps what the head covers, and no wider line after it', async () => {
  const place = await harnessPlace()
  const options = { ...REHEARSAL, mode: 'plan', permissionMode: 'read-only' } as const
  const session = value(await place.harness.create(options))
  expect(await say(session, 'What is 2 + 2?')).toBe('completed')
  await session.close()
  const wider = { permission_mode: 'ask', mode: 'build', provider: 'elsewhere', model: 'other' }
  await appendForged(place.root, session.id, [{ type: 'session_settings', data: wider }])
  const { session_id } = value(await place.harness.salvage(session.id))
  const salvaged = value(await place.harness.open(session_id))
  expect(salvaged.state).toMatchObject({ ...REHEARSAL, mode: 'plan', permission_mode: 'read-only' })
})

test('[AR-001] [AR-002] run says that a forged mode is not in force, as text and as JSON', async () => {
  const { root } = await commandPlace()
  const cli = (...argv: string[]) => runCli({ root }, ...argv)
  expect((await cli('run', 'Say hello.')).code).toBe(0)
  const { stdout } = await cli('sessions', '--json')
  const [listed] = (JSON.parse(stdout) as { sessions: { session_id: SessionId }[] }).sessions
  if (listed === undefined) expect.fail('no Session is listed')
  await appendForged(root, listed.session_id, [AUTO])
  const text = await cli('run', '--continue', 'Write "one" into a.txt.')
  expect(text.stderr + text.stdout).toContain('Not in force: permission mode auto')
  await appendForged(root, listed.session_id, [AUTO])
  const json = await cli('run', '--continue', '--json', 'Write "one" into a.txt.')
  expect(json.stdout).toContain('Not in force: permission mode auto')
  expect(await readFile(`${root}/workspace/a.txt`).catch(() => undefined)).toBeUndefined()
})
