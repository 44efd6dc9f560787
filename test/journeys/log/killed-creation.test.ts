import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SessionId } from '../../../src/model/ids.ts'
import { Output as Collected } from '../../../src/presenters/cli/commands/gc.ts'
import { Output as Listed } from '../../../src/presenters/cli/commands/sessions.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { commandPlace, logPath } from '../../support/session/write-log.ts'

const UNBEGUN = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

/** What a kill between the creation of a Log and its first write leaves, beside an intact Session. */
async function killedCreation() {
  const { root } = await commandPlace()
  await runCli({ root }, 'run', 'What is 2 + 2?')
  await writeFile(logPath(root, UNBEGUN), '', { mode: 0o600 })
  const heads = join(root, 'home', 'heads')
  await mkdir(heads, { recursive: true })
  await writeFile(join(heads, UNBEGUN), '{"seq":-1,"hash":null,"offset":0}\n')
  const listed = async () => {
    const { stdout } = await runCli({ root }, 'sessions', '--json')
    return Listed.parse(JSON.parse(stdout)).sessions.map(({ session_id }) => session_id)
  }
  return { root, listed }
}

test('a Session whose creation was killed is not listed', async () => {
  const { listed } = await killedCreation()
  expect((await listed()).filter((id) => id === UNBEGUN)).toEqual([])
  expect(await listed()).toHaveLength(1)
})

test('every command reports a Session whose creation was killed as not found', async () => {
  const { root } = await killedCreation()
  const commands = [
    ['run', 'Go on', '--session', UNBEGUN],
    ['log', 'show', UNBEGUN],
    ['log', 'verify', UNBEGUN],
    ['log', 'verify', UNBEGUN, '--requests'],
    ['log', 'salvage', UNBEGUN],
    ['sessions', 'delete', UNBEGUN, '--yes'],
    ['trust', UNBEGUN, '--yes'],
    ['undo', UNBEGUN],
    ['diff', UNBEGUN],
    ['usage', '--session', UNBEGUN],
    ['grep', 'rope', '--session', UNBEGUN],
    ['resources', UNBEGUN],
    ['cache', 'explain', UNBEGUN],
  ]
  for (const argv of commands) {
    const ran = await runCli({ root }, ...argv, '--json')
    expect([argv.join(' '), ran.code !== 0, failureOf(ran).kind]).toEqual([
      argv.join(' '),
      true,
      'not_found',
    ])
  }
})

test('gc removes the remains of a killed creation, and counts them', async () => {
  const { root, listed } = await killedCreation()
  const gc = async (...options: string[]) =>
    Collected.parse(JSON.parse((await runCli({ root }, 'gc', '--json', ...options)).stdout)).unbegun
  expect([await gc('--dry-run'), await gc(), await gc()]).toEqual([1, 1, 0])
  const logs = await readdir(join(root, 'workspace', '.hawser', 'sessions'))
  expect(logs.filter((name) => name.endsWith('.ndjson'))).toHaveLength(1)
  expect(await listed()).toHaveLength(1)
})
