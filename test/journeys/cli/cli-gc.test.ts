import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { sessionStarted } from '../../support/log/story.ts'
import { commandPlace, logPath, writeLog } from '../../support/session/write-log.ts'

/** A Session with a spilled field whose blob was damaged. */
async function damagedText() {
  const { root, workspace } = await commandPlace()
  const text = 'rope and sail '.repeat(20_000)
  const id = await writeLog(root, [sessionStarted, { type: 'notice', data: { code: 'x', text } }])
  const blobs = join(workspace, '.hawser', 'blobs')
  const keys = (await readdir(blobs)).filter((name) => /^[0-9a-f]{64}\./.test(name))
  const log = await readFile(logPath(root, id), 'utf8')
  const key = keys.find((name) => log.includes(name)) ?? expect.fail('nothing was spilled')
  await writeFile(join(blobs, key), 'spoilt')
  return { root, id, key, blobs }
}

test('gc names a damaged text blob and its Session, deletes nothing, and the suggested command works', async () => {
  const { root, id, key, blobs } = await damagedText()
  const ran = await runCli({ root }, 'gc', '--json')
  const { kind, details, message, next_actions } = failureOf(ran)
  expect([ran.code, kind, details]).toEqual([
    1,
    'resource_missing',
    { blobs: [{ blob: key, state: 'damaged' }], sessions: [id] },
  ])
  expect(message).toContain(key)
  expect(await readdir(blobs)).toContain(key)
  expect(next_actions.map(({ command }) => command)).toEqual([
    'hawser gc',
    `hawser log verify ${id} --requests`,
    `hawser sessions delete ${id}`,
  ])
  expect((await runCli({ root }, 'sessions', 'delete', id, '--yes')).code).toBe(0)
  expect((await runCli({ root }, 'gc')).code).toBe(0)
})
