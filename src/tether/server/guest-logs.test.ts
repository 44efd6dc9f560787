import { execFile } from 'node:child_process'
import {
  appendFile,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { guestLogsIn } from '../../../test/support/tether/guest-logs.ts'
import { registerDamage } from '../../../test/support/log/registered-damage.ts'
import { openParts } from '../../../test/support/session/harness-parts.ts'
import { value } from '../../../test/support/log/story.ts'
import { systemClock } from '../../host/clock.ts'
import { diskFolder } from '../../host/files/disk.ts'
import { systemIds } from '../../host/ids.ts'
import { sealLine, type UnsealedEvent } from '../../log/line.ts'
import { ok } from '../../model/errors.ts'
import { Harness } from '../../session/harness.ts'
import { GuestLogs } from './guest-logs.ts'

const ADDRESS = { channel: 'host', id: 'default' }

/** A workspace whose guest has answered two messages, and the server's view of its Logs. */
async function scene(instance = 'inst_1') {
  const root = await freshFolder()
  const { parts, close, workspace } = await openParts(root, {}, 'inst_1')
  const harness = new Harness(parts)
  const tether = { instance, ...ADDRESS }
  const options = { provider: 'rehearsal', model: 'rehearsal', tether } as const
  const session = value(await harness.create(options))
  const say = async () => {
    value(await value(await session.admit('What happened?')).done)
  }
  await say()
  await mkdir(join(root, 'server'))
  const heads = await diskFolder(join(root, 'server'))
  onTestFinished(() => heads.close())
  const ids = systemIds(systemClock)
  const own = guestLogsIn({ instance: 'inst_1', workspace, heads, ids })
  const path = join(workspace, '.hawser/instances/inst_1/sessions', `${session.id}.ndjson`)
  const end = async () => {
    await session.close()
    await close()
  }
  return { root, workspace, path, say, end, own, logs: new GuestLogs(own), session: session.id }
}

test('a Log that only grows is followed, also by the next server', async () => {
  const { logs, own, say, end, root, session } = await scene()
  expect(await logs.verify()).toEqual(ok(undefined))
  const before = await readFile(join(root, 'server', session), 'utf8')
  await say()
  expect(await logs.follow(ADDRESS)).toEqual(ok(undefined))
  expect(await readFile(join(root, 'server', session), 'utf8')).not.toBe(before)
  await say()
  await end()
  const next = new GuestLogs(own)
  expect(await next.verify()).toEqual(ok(undefined))
  expect(await next.follow(ADDRESS)).toEqual(ok(undefined))
})

type Tamper = (place: { path: string; workspace: string }) => Promise<unknown>

const lines = async (path: string) => (await readFile(path, 'utf8')).split('\n')

test.each<[string, Tamper, 'both' | 'verify']>([
  [
    'a cut end',
    async ({ path }) => writeFile(path, (await lines(path)).slice(0, -3).join('\n') + '\n'),
    'both',
  ],
  ['an empty file', ({ path }) => truncate(path, 0), 'both'],
  ['no file', ({ path }) => rm(path), 'both'],
  [
    'a changed line before the end',
    async ({ path }) => {
      const text = await readFile(path, 'utf8')
      await writeFile(path, text.replace('What happened?', 'What Happened?'))
    },
    'verify',
  ],
  [
    'a link in its place',
    async ({ path, workspace }) => {
      await rename(path, join(workspace, 'moved'))
      await symlink(join(workspace, 'moved'), path)
    },
    'both',
  ],
  [
    'a pipe in its place',
    async ({ path }) => {
      await rm(path)
      await promisify(execFile)('mkfifo', [path])
    },
    'both',
  ],
  ['a sparse end of 100 GB', ({ path }) => truncate(path, 100e9), 'both'],
  ['no .hawser', ({ workspace }) => rm(join(workspace, '.hawser'), { recursive: true }), 'both'],
  [
    'a .hawser that is a link',
    async ({ workspace }) => {
      await rename(join(workspace, '.hawser'), join(workspace, 'elsewhere'))
      await symlink('elsewhere', join(workspace, '.hawser'))
    },
    'both',
  ],
])('a Log with %s is noticed', async (_, tamper, by) => {
  const { logs, own, end, ...place } = await scene()
  expect(await logs.verify()).toEqual(ok(undefined))
  await end()
  await registerDamage(place.root, 'log', 'The agent changes its own Log.')
  await tamper(place)
  if (by === 'both') expect(await logs.follow(ADDRESS)).toMatchObject({ ok: false })
  expect(await new GuestLogs(own).verify()).toMatchObject({ ok: false })
})

test('another valid history under the same name is noticed', async () => {
  const { logs, own, end, path, workspace, say, root } = await scene()
  await registerDamage(root, 'log', 'The agent puts an old Log in place.')
  const early = join(workspace, 'early')
  await copyFile(path, early)
  await say()
  expect(await logs.verify()).toEqual(ok(undefined))
  await end()
  // The old Log is valid by itself, and its end is missing.
  await copyFile(early, path)
  expect(await logs.follow(ADDRESS)).toMatchObject({ error: { kind: 'log_damaged' } })
  expect(await new GuestLogs(own).verify()).toMatchObject({
    error: { kind: 'log_damaged', next_actions: expect.arrayContaining([expect.anything()]) },
  })
})

test('the incomplete line of a writer that was killed is not a change', async () => {
  const { logs, end, path, root } = await scene()
  await registerDamage(root, 'log', 'A writer was killed.')
  expect(await logs.verify()).toEqual(ok(undefined))
  await end()
  const last = (await lines(path)).at(-2) ?? ''
  await appendFile(path, last.slice(0, 40))
  expect(await logs.follow(ADDRESS)).toEqual(ok(undefined))
  expect(await logs.verify()).toEqual(ok(undefined))
})

test('Logs of other programs in the workspace are left alone, even damaged ones', async () => {
  const { logs, end, path, root } = await scene('inst_2')
  await end()
  await registerDamage(root, 'log', 'The Log of another program is damaged.')
  await truncate(path, 30)
  expect(await logs.verify()).toEqual(ok(undefined))
  expect(await readdir(join(root, 'server'))).toEqual([])
})

test('a Log that claims to belong to others when it is first seen is judged from when it does not', async () => {
  const { own, end, path, root, workspace, session } = await scene()
  await end()
  await registerDamage(root, 'log', 'The agent changes its own Log.')
  await rename(path, join(workspace, 'own'))
  const logs = new GuestLogs(own)
  for (const claimed of [{ instance: 'inst_2' }, { id: 'other' }]) {
    const tether = { instance: 'inst_1', ...ADDRESS, ...claimed }
    const [first = ''] = await lines(join(workspace, 'own'))
    await writeFile(path, withTether(first, tether))
    expect(await logs.follow(ADDRESS)).toEqual(ok(undefined))
  }
  await copyFile(join(workspace, 'own'), path)
  expect(await logs.follow(ADDRESS)).toEqual(ok(undefined))
  expect(await readdir(join(root, 'server'))).toEqual([session])
  await truncate(path, 0)
  expect(await logs.follow(ADDRESS)).toMatchObject({ error: { kind: 'log_damaged' } })
})

/** The first line of a Log, with another binding. */
function withTether(line: string, tether: object): Buffer {
  const event = JSON.parse(line) as UnsealedEvent & { readonly data: unknown }
  const data = JSON.stringify({ ...Object(event.data), tether })
  return sealLine({ ...event, data }, 0, null, 0).bytes
}

test('a Log that grows too fast is refused before it is read', async () => {
  const { own, end } = await scene()
  await end()
  const logs = new GuestLogs({ ...own, mostBytes: 100 })
  expect(await logs.verify()).toMatchObject({ error: { kind: 'too_large' } })
})
