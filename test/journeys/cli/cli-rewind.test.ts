import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Output as Rewound } from '../../../src/presenters/cli/commands/rewind.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { commandPlace } from '../../support/session/write-log.ts'

type Place = Parameters<typeof runCli>[0]

async function turn(place: Place, text: string, ...options: string[]): Promise<string> {
  const args = ['run', text, '--json', '--permission', 'auto', ...options]
  const { stdout, code } = await runCli(place, ...args)
  expect(code).toBe(0)
  const [, id = expect.fail('no Session')] = /"session_id":"(ses_\w+)"/.exec(stdout) ?? []
  return id
}

async function twoTurns() {
  const { root, workspace } = await commandPlace()
  const place = { root }
  const parent = await turn(place, 'Write "one" to a.txt')
  await turn(place, 'Replace "one" with "two" in a.txt', '--session', parent)
  return { place, parent, path: (name: string) => join(workspace, name) }
}

test('a rewound Session is printed with its message, and leaves the files unless they are asked for', async () => {
  const { place, parent, path } = await twoTurns()
  const run = await runCli(place, 'rewind', parent, '--turn', '2', '--json')
  expect(run.code).toBe(0)
  const conversation = Rewound.parse(JSON.parse(run.stdout))
  expect(conversation).toMatchObject({
    parent_session_id: parent,
    turn: 2,
    text: 'Replace "one" with "two" in a.txt',
    resources: [],
    files: [],
    all_restored: true,
  })
  expect(await readFile(path('a.txt'), 'utf8')).toBe('two')
  const both = await runCli(place, 'rewind', parent, '--turn', '1', '--files')
  expect(both.code).toBe(0)
  expect(both.stdout).toMatch(
    new RegExp(
      `^Went back before Turn 1 of ${parent}: the new Session is ses_\\w{26}\\.\n` +
        'The withdrawn message:\n  Write "one" to a\\.txt\nFiles:\n  removed +a\\.txt\nTo continue: ',
    ),
  )
  await expect(readFile(path('a.txt'))).rejects.toThrow('ENOENT')
  const verified = await runCli(place, 'log', 'verify', conversation.session_id, '--requests')
  expect(verified.code).toBe(0)
})

test('without a terminal, files that something else changed are named and nothing is done, unless they may be overwritten', async () => {
  const { place, parent, path } = await twoTurns()
  await writeFile(path('a.txt'), 'mine')
  const args = ['rewind', parent, '--turn', '2', '--files', '--json']
  const refused = await runCli(place, ...args)
  expect(refused.code).toBe(1)
  expect(failureOf(refused)).toMatchObject({ kind: 'no_match', details: { files: ['a.txt'] } })
  expect(failureOf(refused).next_actions[1]?.command).toBe(
    `hawser rewind ${parent} --turn 2 --files --force`,
  )
  expect(await readFile(path('a.txt'), 'utf8')).toBe('mine')
  const sessions = await runCli(place, 'sessions', '--json')
  expect(sessions.stdout.split('"session_id"').length - 1).toBe(1)
  const forced = await runCli(place, ...args, '--force')
  expect(Rewound.parse(JSON.parse(forced.stdout)).files).toEqual([
    { path: 'a.txt', outcome: 'restored' },
  ])
  expect(await readFile(path('a.txt'), 'utf8')).toBe('one')
})

test('a Turn that is missing or does not exist, and options that do not fit, are refused with the next step', async () => {
  const { place, parent } = await twoTurns()
  const refusals = [
    [[], 'invalid_args'],
    [['--turn', '0'], 'invalid_args'],
    [['--turn', 'last'], 'invalid_args'],
    [['--turn=-1'], 'invalid_args'],
    [['--turn', '3'], 'not_found'],
    [['--turn', '2', '--force'], 'invalid_args'],
  ] as const
  for (const [options, kind] of refusals) {
    const refused = failureOf(await runCli(place, 'rewind', parent, ...options, '--json'))
    expect([options, refused.kind, refused.next_actions.length > 0]).toEqual([options, kind, true])
  }
  const missing = ['rewind', 'ses_01kg8m2q3r4s5t6v7w8x9y0z12', '--turn', '1', '--json']
  expect(failureOf(await runCli(place, ...missing)).kind).toBe('not_found')
})
