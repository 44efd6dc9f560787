import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failed } from '../../../src/model/errors.ts'
import type { Session } from '../../../src/session/session.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { wayPlace, WAYS } from '../../support/providers/ways.ts'

async function say(session: Session, text: string): Promise<string> {
  const admitted = value(await session.admit(text))
  return value(await admitted.done).status
}

test.each(WAYS)(
  '%s: a resumed Session keeps its permission mode until it is changed, and the Log has both modes',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(
      await place.harness.create({ ...place.begin, permissionMode: 'read-only' }),
    )
    await say(session, 'Write "hello" to a.txt')
    const again = await wayPlace(way, { root: place.root, vendor: place.vendor })
    const resumed = value(await again.harness.open(session.id))
    expect(resumed.permissionMode).toBe('read-only')
    value(await resumed.change({ permission_mode: 'auto' }))
    expect(resumed.permissionMode).toBe('auto')
    expect(await say(resumed, 'Write "hello" to a.txt')).toBe('completed')
    expect(await readFile(join(place.workspace, 'a.txt'), 'utf8')).toBe('hello')
    const settings = resumed.events.filter(({ type }) => type === 'session_settings')
    expect(settings.map(({ data }) => data)).toEqual([{ permission_mode: 'auto' }])
    const modes = resumed.events.flatMap((e) =>
      e.type === 'late_context' ? [e.data.permission_mode] : [],
    )
    expect(modes).toEqual(['read-only', 'auto'])
    const third = await wayPlace(way, { root: place.root, vendor: place.vendor })
    expect(value(await third.harness.open(session.id)).permissionMode).toBe('auto')
  },
)

test.each(WAYS)('%s: plan mode stays read-only in every permission mode', async (way) => {
  const place = await wayPlace(way)
  const session = value(
    await place.harness.create({ ...place.begin, mode: 'plan', permissionMode: 'auto' }),
  )
  value(await session.change({ permission_mode: 'ask' }))
  value(await session.change({ permission_mode: 'auto' }))
  expect(session.permissionMode).toBe('read-only')
})

test.each(WAYS)('%s: a mode set while a Turn runs applies from its next call on', async (way) => {
  const place = await wayPlace(way, {
    changes: {
      person: {
        ask: async () => {
          value(await session.change({ permission_mode: 'read-only' }))
          return { allowed: true, scope: 'once' }
        },
      },
    },
  })
  const session = value(await place.harness.create(place.begin))
  await say(session, 'Write "one" to a.txt and then write "two" to b.txt')
  const outcomes = session.events.flatMap((e) => (e.type === 'tool_result' ? [e.data.outcome] : []))
  expect(outcomes).toEqual(['ok', 'denied'])
})

const HOOKS = '.git/hooks/pre-commit is protected: git runs the programs in it'

test.each(WAYS)('%s: a write through a link is decided by its target', async (way) => {
  const questions: string[] = []
  const place = await wayPlace(way, {
    changes: {
      person: {
        ask: async ({ reason }) => {
          questions.push(reason)
          return { allowed: questions.length === 2, scope: 'once' }
        },
      },
    },
  })
  await mkdir(join(place.workspace, '.git', 'hooks'), { recursive: true })
  await symlink('.git/hooks', join(place.workspace, 'link'))
  const session = value(await place.harness.create({ ...place.begin, permissionMode: 'auto' }))
  await say(session, 'Write "x" to link/pre-commit')
  await say(session, 'Write "y" to link/pre-commit')
  expect(questions).toEqual([HOOKS, HOOKS])
  expect(await readFile(join(place.workspace, '.git', 'hooks', 'pre-commit'), 'utf8')).toBe('y')
  const results = session.events.flatMap((e) => (e.type === 'tool_result' ? [e.data] : []))
  expect(results.map(({ outcome, path }) => [outcome, path])).toEqual([
    ['denied', undefined],
    ['ok', '.git/hooks/pre-commit'],
  ])
})

test.each(WAYS)(
  '%s: a watcher of a Session sees what another process writes, line by line',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create(place.begin))
    const other = await wayPlace(way, { root: place.root, vendor: place.vendor })
    const watched = value(await other.harness.open(session.id))
    const seen: string[] = []
    const watching = (async () => {
      for await (const one of watched.subscribe()) {
        if (one.kind !== 'line') continue
        seen.push(one.line.content.event.type)
        if (seen.filter((type) => type === 'turn_ended').length === 2) break
      }
    })()
    await say(session, 'List all files')
    await say(session, 'List all files')
    await watching
    expect(seen).toEqual(session.events.slice(2).map(({ type }) => type))
    // The process continues from the state that it reached by watching.
    expect(await say(watched, 'List all files')).toBe('completed')
    expect(watched.events.filter(({ type }) => type === 'turn_ended').length).toBe(3)
    await watched.close()
  },
)

test.each(WAYS)(
  '%s: a process that watches and writes sees each Event once, from any writer',
  async (way) => {
    const place = await wayPlace(way)
    const one = value(await place.harness.create(place.begin))
    const there = await wayPlace(way, { root: place.root, vendor: place.vendor })
    const two = value(await there.harness.open(one.id))
    const seqs: number[] = []
    const watching = (async () => {
      for await (const seen of one.subscribe()) if (seen.kind === 'line') seqs.push(seen.line.seq)
    })()
    for (const session of [one, two, one, two, two, one]) {
      expect(await say(session, 'List all files')).toBe('completed')
    }
    await one.close()
    await watching
    expect(seqs).toEqual(Array.from(seqs, (_, at) => 2 + at))
    expect(seqs.length).toBe(one.events.length - 2)
  },
)

test.each(WAYS)(
  '%s: text that is too late for a Turn is in the Log and in the next request',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create({ ...place.begin, permissionMode: 'auto' }))
    const turn = value(await session.admit('Run `sleep 30`'))
    for await (const seen of session.subscribe()) {
      if (seen.kind === 'line' && seen.line.content.event.type === 'permission_decision') break
    }
    expect(session.steer('one more thing')).toBe(true)
    session.interrupt()
    expect(value(await turn.done).status).toBe('interrupted')
    const steered = session.events.find((e) => e.type === 'user_message' && e.data.steer === true)
    expect(steered?.data).toMatchObject({ text: 'one more thing' })
    const next = value(await session.preview('go on'))
    expect(next.body.toString('utf8')).toContain('one more thing')
    expect(session.steer('too late')).toBe(false)
  },
)

test.each(WAYS)(
  '%s: the latest Session is the last one written, and lists report what cannot be read',
  async (way) => {
    const place = await wayPlace(way)
    expect(await place.harness.latest()).toMatchObject({ error: { kind: 'not_found' } })
    const one = value(await place.harness.create(place.begin))
    const two = value(await place.harness.create(place.begin))
    await say(one, 'List all files')
    expect(value(await place.harness.latest()).id).toBe(one.id)
    const log = join(place.workspace, '.hawser', 'sessions', `${two.id}.ndjson`)
    await registerDamage(place.root, 'log', 'What is in the place of a Log is none.')
    await writeFile(log, 'not a Log\n')
    const listed = await place.harness.list()
    expect(listed.map(({ id, damage }) => [id, damage?.kind])).toEqual([
      [one.id, undefined],
      [two.id, 'log_damaged'],
    ])
  },
)

test.each(WAYS)(
  '%s: a deleted Session is gone with its head, and is not deleted while it is written',
  async (way) => {
    const place = await wayPlace(way)
    const session = value(await place.harness.create({ ...place.begin, permissionMode: 'auto' }))
    const turn = value(await session.admit('Run `sleep 30`'))
    expect(await place.harness.delete(session.id)).toMatchObject({
      error: { kind: 'session_busy' },
    })
    session.interrupt()
    await turn.done
    value(await place.harness.delete(session.id))
    expect(await place.harness.list()).toEqual([])
    expect(await place.harness.open(session.id)).toMatchObject({ error: { kind: 'not_found' } })
    await expect(readFile(join(place.root, 'home', 'heads', session.id))).rejects.toThrow('ENOENT')
  },
)

test('text typed while a Turn fails before its first call is in the Log nevertheless', async () => {
  const place = await harnessPlace()
  const created = value(await place.harness.create({ provider: 'rehearsal', model: 'rehearsal' }))
  let goOn = () => {}
  const typed = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const broken = await harnessPlace(
    {
      model: {
        providerOf: async () => {
          await typed
          return failed('not_configured', 'The key is gone.')
        },
      },
    },
    place.root,
  )
  const session = value(await broken.harness.open(created.id))
  const { done } = value(await session.admit('Hello'))
  expect(session.steer('one more thing')).toBe(true)
  goOn()
  expect(value(await done)).toMatchObject({
    status: 'failed',
    error: { kind: 'not_configured' },
  })
  expect(session.events.slice(-2).map(({ type, data }) => [type, data])).toMatchObject([
    ['user_message', { text: 'one more thing', steer: true }],
    ['turn_ended', { status: 'failed' }],
  ])
  expect(session.steer('too late')).toBe(false)
})
