import { expect, test } from 'vitest'
import { Output as Forked } from '../../../src/presenters/cli/commands/fork.ts'
import { Output as Grep } from '../../../src/presenters/cli/commands/grep.ts'
import { Output as Salvaged } from '../../../src/presenters/cli/commands/log/salvage.ts'
import { Output as Sessions } from '../../../src/presenters/cli/commands/sessions.ts'
import { Output as Usage } from '../../../src/presenters/cli/commands/usage.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { commandPlace } from '../../support/session/write-log.ts'

type Place = Parameters<typeof runCli>[0]

async function turn(place: Place, text: string, ...options: string[]): Promise<string> {
  const { stdout, code } = await runCli(place, 'run', text, '--json', ...options)
  expect(code).toBe(0)
  const [, id = expect.fail('no Session')] = /"session_id":"(ses_\w+)"/.exec(stdout) ?? []
  return id
}

async function fork(place: Place, ...args: string[]) {
  const { stdout, code } = await runCli(place, 'fork', ...args, '--json')
  expect(code).toBe(0)
  return Forked.parse(JSON.parse(stdout))
}

async function twoTurns() {
  const { root } = await commandPlace()
  const place = { root }
  const parent = await turn(place, 'Remember the heron')
  await turn(place, 'Remember the gannet', '--session', parent)
  return { place, parent }
}

test('a fork continues where its parent was, and both go their own way', async () => {
  const { place, parent } = await twoTurns()
  const forked = await fork(place, parent)
  expect(forked).toMatchObject({ ok: true, parent_session_id: parent })
  await turn(place, 'Remember the puffin', '--session', forked.session_id)
  const shown = await runCli(place, 'log', 'show', forked.session_id)
  expect(shown.stdout).toMatch(/heron[^]*gannet[^]*session_fork[^]*puffin/)
  expect(shown.stdout).toContain(`from ${parent} after Event ${forked.at_seq}`)
  expect((await runCli(place, 'log', 'show', parent)).stdout).not.toContain('puffin')
  const verified = await runCli(place, 'log', 'verify', forked.session_id, '--requests', '--json')
  expect(verified.code).toBe(0)
  const listed = Sessions.parse(
    JSON.parse((await runCli(place, 'sessions', '--json')).stdout),
  ).sessions
  expect(listed.map(({ session_id, depth, turns }) => [session_id, depth, turns])).toEqual([
    [parent, 0, 2],
    [forked.session_id, 1, 3],
  ])
})

test('the parent, the shared Turns and the reason for another point are said in words', async () => {
  const { place, parent } = await twoTurns()
  const text = await runCli(place, 'fork', parent, '--turn', '1')
  expect(text.stdout).toMatch(
    new RegExp(
      `^Forked ${parent} after Event \\d+: the new Session is ses_\\w{26}\\.\nTo continue: `,
    ),
  )
  const [, id = ''] = /run --session (ses_\w+)/.exec(text.stdout) ?? []
  expect((await runCli(place, 'log', 'show', id)).stdout).not.toContain('gannet')
  const json = await runCli(place, 'log', 'show', parent, '--json')
  const seqs = json.stdout.split('\n').flatMap((line) => {
    const [, seq] = /^\{"v":1,"seq":(\d+),.*"type":"user_message"/.exec(line) ?? []
    return seq === undefined ? [] : [Number(seq)]
  })
  const inside = await runCli(place, 'fork', parent, '--at', String(seqs[1]))
  expect(inside.stdout).toContain(
    `cannot be forked after Event ${seqs[1]}, which is inside a Turn.`,
  )
})

test('points that do not exist, and two points, are refused with the next step', async () => {
  const { place, parent } = await twoTurns()
  const refusals = [
    [['--at', '999'], 'invalid_args'],
    [['--at=-1'], 'invalid_args'],
    [['--at', 'end'], 'invalid_args'],
    [['--turn', '0'], 'invalid_args'],
    [['--turn', '3'], 'not_found'],
    [['--at', '3', '--turn', '1'], 'invalid_args'],
  ] as const
  for (const [options, kind] of refusals) {
    const refused = failureOf(await runCli(place, 'fork', parent, ...options, '--json'))
    expect([options, refused.kind, refused.next_actions.length > 0]).toEqual([options, kind, true])
  }
  const missing = 'ses_01kg8m2q3r4s5t6v7w8x9y0z12'
  const other = await freshFolder()
  for (const args of [[missing], [parent, '--workspace', other]]) {
    const refused = failureOf(await runCli(place, 'fork', ...args, '--json'))
    expect([args, refused.kind, refused.next_actions.length > 0]).toEqual([args, 'not_found', true])
  }
})

test('usage counts what is shared once, for all Sessions and for one', async () => {
  const { place, parent } = await twoTurns()
  const before = await runCli(place, 'usage', '--json')
  const { session_id } = await fork(place, parent)
  await fork(place, session_id)
  const { total } = Usage.parse(JSON.parse(before.stdout))
  const after = Usage.parse(JSON.parse((await runCli(place, 'usage', '--json')).stdout))
  expect(after).toMatchObject({ total, sessions: 3 })
  const one = await runCli(place, 'usage', '--session', session_id, '--json')
  expect(Usage.parse(JSON.parse(one.stdout)).total).toEqual(total)
})

test('grep finds a shared line in the Session that wrote it, and in a fork that is named', async () => {
  const { place, parent } = await twoTurns()
  const { session_id } = await fork(place, parent)
  await turn(place, 'Remember the heron again', '--session', session_id)
  const grep = async (...options: string[]) => {
    const { stdout } = await runCli(
      place,
      'grep',
      'Remember the (heron|gannet)',
      '--json',
      ...options,
    )
    return Grep.parse(JSON.parse(stdout)).matches.flatMap((match) =>
      match.type === 'user_message' ? [`${match.session_id} ${match.turn}`] : [],
    )
  }
  const all = new Set(await grep())
  expect(all).toEqual(new Set([`${parent} 1`, `${parent} 2`, `${session_id} 3`]))
  expect(await grep('--session', session_id)).toEqual([
    `${session_id} 1`,
    `${session_id} 2`,
    `${session_id} 3`,
  ])
})

test('of a family whose root is deleted, grep and usage still count what is shared once', async () => {
  const { place, parent } = await twoTurns()
  const child = await fork(place, parent)
  const grandchild = await fork(place, child.session_id)
  await turn(place, 'Remember the puffin', '--session', child.session_id)
  const other = await fork(place, child.session_id)
  const { total } = Usage.parse(JSON.parse((await runCli(place, 'usage', '--json')).stdout))
  await runCli(place, 'sessions', 'delete', parent, '--yes')
  await runCli(place, 'sessions', 'delete', grandchild.session_id, '--yes')
  const after = Usage.parse(JSON.parse((await runCli(place, 'usage', '--json')).stdout))
  expect(after.total).toEqual(total)
  const { stdout } = await runCli(place, 'grep', 'Remember the', '--json')
  const found = Grep.parse(JSON.parse(stdout)).matches.flatMap(({ type, session_id, turn: at }) =>
    type === 'user_message' ? [`${session_id} ${at}`] : [],
  )
  expect(found.toSorted()).toEqual([1, 2, 3].map((at) => `${child.session_id} ${at}`))
  await turn(place, 'Remember the tern', '--session', other.session_id)
})

test('an exported and a salvaged fork have everything that it shares', async () => {
  const { place, parent } = await twoTurns()
  const { session_id } = await fork(place, parent)
  await turn(place, 'Remember the puffin', '--session', session_id)
  const exported = await runCli(place, 'log', 'export', session_id)
  expect(exported.stdout).toMatch(/heron[^]*gannet[^]*puffin/)
  const saved = await runCli(place, 'log', 'salvage', session_id, '--json')
  const salvaged = Salvaged.parse(JSON.parse(saved.stdout))
  expect(salvaged).toMatchObject({ missing: [], continuable: true })
  await runCli(place, 'sessions', 'delete', session_id, '--yes')
  await runCli(place, 'sessions', 'delete', parent, '--yes')
  await turn(place, 'Remember the tern', '--session', salvaged.session_id)
  const shown = await runCli(place, 'log', 'show', salvaged.session_id)
  expect(shown.stdout).toMatch(/heron[^]*gannet[^]*puffin[^]*tern/)
})
