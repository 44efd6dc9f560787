import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { commandPlace } from '../../support/session/write-log.ts'

/** Two Sessions; the latest wrote one file in each of its two Turns. */
async function place() {
  const { root, workspace } = await commandPlace()
  const cli = (...argv: string[]) => runCli({ root }, ...argv)
  await cli('run', 'Say hello.')
  for (const [prompt, ...which] of [
    ['Write "one" into a.txt.'],
    ['Write "two" into b.txt.', '--continue'],
  ] as const) {
    const { code } = await cli('run', '--permission', 'auto', ...which, prompt)
    expect(code).toBe(0)
  }
  return { root, workspace, cli }
}

test('commands that read a Session default to the latest one', async () => {
  const { cli } = await place()
  for (const [command, ...options] of [
    ['log show', '--json'],
    ['log verify', '--json'],
    ['log export', '--format', 'json'],
    ['cache explain', '--json'],
    ['request', '--prompt', 'And now?', '--json'],
    ['resources', '--json'],
    ['diff', '--json'],
  ] as const) {
    const words = command.split(' ')
    const bare = await cli(...words, ...options)
    expect([command, bare.code]).toEqual([command, 0])
    expect(bare).toEqual(await cli(...words, 'latest', ...options))
  }
})

test('a Turn without a Session belongs to the latest Session, and undo names the Session it changes', async () => {
  const { cli, workspace } = await place()
  const first = await cli('diff', '1')
  expect(first.stdout).toContain('a.txt')
  expect(first.stdout).not.toContain('b.txt')
  const undone = await cli('undo', '1')
  expect([undone.code, undone.stdout]).toEqual([
    0,
    expect.stringMatching(/^Files of Turn 1 of ses_\w{26}:\n/),
  ])
  await expect(readFile(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT')
  expect((await cli('undo')).stdout).toMatch(/^Files of Turn 2 of ses_\w{26}:\n/)
})

test('drop uses the latest Session, salvage names the one it read, and delete requires a name', async () => {
  const { cli } = await place()
  expect(failureOf(await cli('resources', 'drop', '@img1', '--json')).kind).toBe('not_found')
  expect((await cli('log', 'salvage')).stdout).toMatch(/^Copied \d+ Events from ses_\w{26} to ses_/)
  const deleted = await cli('sessions', 'delete', '--yes', '--json')
  expect([deleted.code, failureOf(deleted).kind]).toEqual([2, 'invalid_args'])
})

test('without a Session, every command reports that there is none', async () => {
  const { root } = await commandPlace()
  const { code, stderr } = await runCli({ root }, 'undo')
  expect([code, stderr.startsWith('hawser: ')]).toEqual([1, true])
})
