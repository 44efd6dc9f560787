import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SessionId } from '../../../src/model/ids.ts'
import { Output as Salvaged } from '../../../src/presenters/cli/commands/log/salvage.ts'
import { Output as Listed } from '../../../src/presenters/cli/commands/sessions.ts'
import type { Ask } from '../../support/session/asked-harness.ts'
import { runCli } from '../../support/cli/cli.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { sampleFile, picture, say } from '../../support/resources/sample-files.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { visionPlace } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { commandPlace, logPath } from '../../support/session/write-log.ts'

const BEGIN = { provider: 'rehearsal', model: 'rehearsal' }

const headOf = (root: string, id: SessionId) => join(root, 'home', 'heads', id)

test.each([
  { mode: 'build', recorded: 'read-only', trusted: 'read-only' },
  { mode: 'build', recorded: 'ask', trusted: 'ask' },
  { mode: 'build', recorded: 'auto', trusted: 'ask' },
  { mode: 'plan', recorded: 'auto', trusted: 'read-only' },
] as const)(
  'a Session from elsewhere in $mode and $recorded is $trusted after it is trusted',
  async ({ mode, recorded, trusted }) => {
    const { harness, root, workspace } = await harnessPlace()
    const created = value(await harness.create({ ...BEGIN, mode, permissionMode: recorded }))
    expect(created.permissionMode).toBe(mode === 'plan' ? 'read-only' : recorded)
    await rm(headOf(root, created.id))
    value(await harness.adopt(created.id))
    const session = value(await harness.open(created.id))
    expect(session.permissionMode).toBe(trusted)
    await say(session, 'Write "hello" to out.txt')
    await expect(readFile(join(workspace, 'out.txt'))).rejects.toThrow('ENOENT')
  },
)

test('a mode recorded later has no more effect, and a mode that a person sets afterwards does', async () => {
  const { harness, root } = await harnessPlace()
  const created = value(await harness.create({ ...BEGIN, permissionMode: 'ask' }))
  value(await created.change({ permission_mode: 'auto' }))
  await rm(headOf(root, created.id))
  value(await harness.adopt(created.id))
  const session = value(await harness.open(created.id))
  expect(session.permissionMode).toBe('ask')
  value(await session.change({ permission_mode: 'auto' }))
  expect(value(await harness.open(created.id)).permissionMode).toBe('auto')
  value(await harness.adopt(created.id))
  expect(value(await harness.open(created.id)).permissionMode).toBe('auto')
})

test('a Session whose head cannot be written stays foreign, with nothing permitted', async () => {
  const { harness, root } = await harnessPlace()
  const created = value(await harness.create({ ...BEGIN, permissionMode: 'auto' }))
  const heads = join(root, 'home', 'heads')
  await rm(heads, { recursive: true })
  expect(await harness.adopt(created.id)).toMatchObject({ ok: false })
  expect((await harness.list()).map(({ foreign }) => foreign)).toEqual([true])
  const again = await harnessPlace({}, root)
  value(await again.harness.adopt(created.id))
  expect(value(await again.harness.open(created.id)).permissionMode).toBe('ask')
})

test('consent to send bytes in a foreign Log is asked for again', async () => {
  let questions = 0
  const ask: Ask = async () => {
    questions += 1
    return { allowed: true, scope: 'once' }
  }
  const changes = {
    person: { ask, upload: { upload: 'ask' } },
    model: { replay: 'window' },
  } as const
  const place = await visionPlace('in process', { changes })
  const image = await sampleFile(place.workspace, 'a.png', picture(1))
  const created = value(await place.harness.create(place.begin))
  await say(created, 'What do you see?', { attachments: [image.input] })
  const again = value(await place.harness.open(created.id))
  await say(again, 'Good morning.')
  expect(questions).toBe(1)
  await rm(headOf(place.root, created.id))
  value(await place.harness.adopt(created.id))
  const session = value(await place.harness.open(created.id))
  await say(session, 'Good morning.')
  expect(questions).toBe(2)
  const { requests } = value(await place.harness.verify(created.id, { requests: true }))
  expect(requests?.mismatches).toEqual([])
})

/** A Session of the program in `auto`, made foreign. */
async function foreignAuto() {
  const { root, workspace } = await commandPlace()
  await runCli({ root }, 'run', 'What is 2 + 2?', '--permission', 'auto')
  const { stdout } = await runCli({ root }, 'sessions', '--json')
  const [listed] = Listed.parse(JSON.parse(stdout)).sessions
  const id = SessionId.parse(listed?.session_id)
  await rm(headOf(root, id))
  return { root, workspace, id }
}

const WRITE = 'Write "hello" to out.txt'

test('after hawser trust the program asks, and acts without asking only if an option allows it', async () => {
  const { root, workspace, id } = await foreignAuto()
  const trusted = await runCli({ root }, 'trust', id, '--yes')
  expect([trusted.code, trusted.stderr.includes('permission: ask (recorded: auto')]).toEqual([
    0,
    true,
  ])
  const again = await runCli({ root }, 'trust', id, '--yes')
  expect([again.code, again.stdout]).toEqual([0, `${id} is already trusted.\n`])
  const denied = await runCli({ root }, 'run', WRITE, '--session', id)
  expect(denied.code).not.toBe(0)
  await expect(readFile(join(workspace, 'out.txt'))).rejects.toThrow('ENOENT')
  const allowed = await runCli({ root }, 'run', WRITE, '--session', id, '--permission', 'auto')
  expect([allowed.code, await readFile(join(workspace, 'out.txt'), 'utf8')]).toEqual([0, 'hello'])
})

test('a salvaged Session asks, whatever the lost lines contained', async () => {
  const { root, workspace, id } = await foreignAuto()
  await runCli({ root }, 'trust', id, '--yes')
  const path = logPath(root, id)
  const lines = (await readFile(path, 'utf8')).split('\n')
  const narrowed = lines.findIndex((line) => line.includes('"session_settings"'))
  await registerDamage(root, 'log', 'A line of a Log is spoilt.')
  await writeFile(path, lines.with(narrowed, 'spoilt').join('\n'))
  const { stdout } = await runCli({ root }, 'log', 'salvage', id, '--json')
  const saved = Salvaged.parse(JSON.parse(stdout)).session_id
  expect((await runCli({ root }, 'run', WRITE, '--session', saved)).code).not.toBe(0)
  await expect(readFile(join(workspace, 'out.txt'))).rejects.toThrow('ENOENT')
})
