import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { guests, instancesPlace } from '../../support/tether/instances-place.ts'
import { MADE, restoreMadeHome } from '../../support/tether/made-home.ts'
import { value } from '../../support/log/story.ts'

interface Listed {
  readonly sessions: readonly { readonly session_id: string; readonly foreign: boolean }[]
  readonly instances: readonly string[]
}

/** A home of an earlier version, after its Instance was started by this one. */
async function scene() {
  const root = await freshFolder()
  await restoreMadeHome(root)
  const hawser = (...argv: readonly string[]) => runCli({ root }, ...argv)
  const listed = async (...argv: readonly string[]) => {
    const { sessions, instances } = JSON.parse(
      (await hawser('sessions', '--json', ...argv)).stdout,
    ) as Listed
    return {
      sessions: sessions.map(({ session_id, foreign }) => [session_id, foreign] as const),
      instances,
    }
  }
  const start = async () => {
    const { instances, runtime } = await instancesPlace({ root })
    value(await instances.act('painter', 'start'))
    await guests(runtime, 1)
    return instances
  }
  return { root, hawser, listed, start }
}

test('the Sessions of an Instance are listed apart, and read only when they are asked for', async () => {
  const { listed, start, hawser } = await scene()
  const before = await listed()
  expect([before.sessions.length, before.instances]).toEqual([3, []])
  await start()
  expect(await listed()).toEqual({ sessions: [[MADE.person, false]], instances: ['painter'] })
  const words = (await hawser('sessions')).stdout
  expect(words).toMatch(/Sessions of the Instance painter: hawser sessions --instance painter\n$/)
  const own = await listed('--instance', 'painter')
  expect(new Map(own.sessions)).toEqual(
    new Map([
      [MADE.one, true],
      [MADE.two, true],
    ]),
  )
  expect((await hawser('sessions', '--instance', 'painter')).stdout).toMatch(
    /\[foreign, of an Instance\]/,
  )
})

test('their Logs are shown, verified, searched and exported', async () => {
  const { start, hawser } = await scene()
  await start()
  const of = ['--instance', 'painter'] as const
  expect((await hawser('log', 'show', MADE.one, ...of)).stdout).toContain('What do you see?')
  for (const id of [MADE.one, MADE.two]) {
    const verified = await hawser('log', 'verify', id, '--requests', ...of, '--json')
    expect(JSON.parse(verified.stdout)).toMatchObject({
      whole: true,
      foreign: true,
      requests: { mismatches: [] },
    })
  }
  const person = await hawser('log', 'verify', MADE.person, '--requests', '--json')
  expect(JSON.parse(person.stdout)).toMatchObject({ whole: true, foreign: false })
  expect((await hawser('grep', 'four.png', ...of)).stdout).toContain(MADE.two)
  expect((await hawser('grep', 'four.png')).code).toBe(1)
  expect((await hawser('log', 'export', MADE.two, ...of)).stdout).toContain('four.png')
})

test('without the name of the Instance, the error says where a Session is', async () => {
  const { start, hawser } = await scene()
  await start()
  const refused = failureOf(await hawser('log', 'show', MADE.one, '--json'))
  expect(refused).toMatchObject({
    kind: 'not_found',
    next_actions: [{ command: `hawser log show ${MADE.one} --instance ${MADE.instance}` }],
  })
  const continued = await hawser('run', 'Hello', '--session', MADE.one, '--json')
  expect(failureOf(continued).kind).toBe('not_found')
  const none = await hawser('sessions', '--instance', 'writer', '--json')
  expect(failureOf(none).kind).toBe('not_found')
})

test('records stay when the Instance is deleted, and its id names them', async () => {
  const { root, start, listed } = await scene()
  const instances = await start()
  value(await instances.delete('painter'))
  expect(await listed()).toMatchObject({ instances: [MADE.instance] })
  expect((await listed('--instance', MADE.instance)).sessions).toHaveLength(2)
  const records = join(root, 'workspace/.hawser/instances', MADE.instance)
  expect((await readdir(join(records, 'blobs'))).filter((name) => name.endsWith('.png'))).toEqual(
    [MADE.own, MADE.shared].toSorted(),
  )
})

test('an Instance that was mapped to another folder finds its records when it is mapped back', async () => {
  const { root, start, listed } = await scene()
  const instances = await start()
  value(await instances.map('painter', 'own'))
  expect((await listed('--instance', 'painter')).sessions).toEqual([])
  expect(await instances.image('painter', MADE.own)).toMatchObject({
    error: { kind: 'resource_missing' },
  })
  value(await instances.map('painter', join(root, 'workspace')))
  expect((await listed('--instance', 'painter')).sessions).toHaveLength(2)
  expect(value(await instances.image('painter', MADE.own)).media_type).toBe('image/png')
})

test('the records of an Instance with a private folder are read, although that is in the home of Hawser', async () => {
  const { root, start, listed, hawser } = await scene()
  const instances = await start()
  const { id } = value(await instances.map('painter', 'own'))
  const records = join('.hawser/instances', id)
  const own = join(root, 'home/instances', id, 'workspace', records)
  await cp(join(root, 'workspace', records), own, { recursive: true })
  expect((await listed('--instance', 'painter')).sessions).toHaveLength(2)
  const shown = await hawser('log', 'show', MADE.one, '--instance', 'painter')
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('user_message')])
})

test('doctor says where the records of Instances are in a workspace, also of a deleted one', async () => {
  const { root, hawser, start } = await scene()
  const records = join(root, 'workspace/.hawser/instances')
  const found = async () => {
    const { checks } = JSON.parse((await hawser('doctor', '--json')).stdout) as Doctor
    return checks.flatMap(({ id, status, text }) => (id === 'instances' ? [[status, text]] : []))
  }
  expect(await found()).toEqual([])
  const instances = await start()
  expect(await found()).toEqual([['ok', `records in ${records}: painter (${MADE.instance})`]])
  value(await instances.delete('painter'))
  expect(await found()).toEqual([['ok', `records in ${records}: ${MADE.instance}`]])
  const bundle = (await hawser('doctor', '--bundle')).stdout
  expect(bundle).toContain('records of 1 Instance')
  expect(bundle).not.toContain(MADE.instance)
})

interface Doctor {
  readonly checks: readonly {
    readonly id: string
    readonly status: string
    readonly text: string
  }[]
}
