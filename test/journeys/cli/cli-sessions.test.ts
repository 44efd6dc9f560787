import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SessionId } from '../../../src/model/ids.ts'
import { Output as Forked } from '../../../src/presenters/cli/commands/fork.ts'
import { Output as Deleted } from '../../../src/presenters/cli/commands/sessions-delete.ts'
import { Output } from '../../../src/presenters/cli/commands/sessions.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { failureOf, UNSAFE_CHARACTER } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { openPty } from '../../support/cli/pty.ts'
import { sessionStarted, turnEnded, value } from '../../support/log/story.ts'
import {
  commandPlace,
  writeForeignLog,
  logPath,
  corruptLog,
  writeLog,
} from '../../support/session/write-log.ts'
import { acquireLog } from '../../../src/log/open.ts'
import { sessionFold } from '../../../src/session/live/state.ts'

const ESCAPE = '\u001b'
const OTHER = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
const THIRD = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z13')

async function list(root: string) {
  const { code, stdout, stderr } = await runCli({ root }, 'sessions', '--json')
  expect([code, stderr]).toEqual([0, ''])
  return Output.parse(JSON.parse(stdout)).sessions
}

test('a folder without Sessions, or never used, is not an error, and nothing is created in it', async () => {
  const { root, workspace } = await commandPlace()
  const never = await runCli({ root }, 'sessions')
  expect([never.code, never.stderr]).toEqual([0, ''])
  expect(never.stdout).toMatch(/^No Sessions in this folder yet\./)
  expect(await list(root)).toEqual([])
  expect(await readdir(workspace)).toEqual([])
  await (await openParts(root)).close()
  expect((await runCli({ root }, 'sessions')).stdout).toBe(never.stdout)
  expect(await list(root)).toEqual([])
})

test('a missing folder is an error', async () => {
  const { root } = await commandPlace()
  const run = await runCli({ root }, 'sessions', '--json', '--workspace', join(root, 'nowhere'))
  expect([run.code, failureOf(run).kind]).toEqual([1, 'not_found'])
})

test('Sessions are listed, the latest first, each with its Turns and its first words', async () => {
  const { root } = await commandPlace()
  await runCli({ root }, 'run', 'List all files')
  await runCli({ root }, 'run', 'What can you do?')
  await runCli({ root }, 'run', '--continue', 'And else?')
  const sessions = await list(root)
  const same = { depth: 0, provider: 'rehearsal', model: 'rehearsal', foreign: false, busy: false }
  const rest = { ...same, turn_open: false }
  const id = expect.stringMatching(/^ses_/)
  const last_at = expect.stringMatching(/Z$/)
  expect(sessions).toEqual([
    { ...rest, session_id: id, last_at, title: 'What can you do?', turns: 2 },
    { ...rest, session_id: id, last_at, title: 'List all files', turns: 1 },
  ])
  const { stdout } = await runCli({ root }, 'sessions')
  const [first] = sessions
  const minute = first?.last_at?.slice(0, 16)
  expect(stdout.split('\n')[1]).toBe(`${first?.session_id}  ${minute}Z      2  What can you do?`)
})

test('a fork is below its parent', async () => {
  const { root } = await commandPlace()
  const parent = await writeLog(root, [sessionStarted])
  const forked = await runCli({ root }, 'fork', parent, '--json')
  const { session_id: fork } = Forked.parse(JSON.parse(forked.stdout))
  const later = await writeLog(root, [sessionStarted])
  const sessions = await list(root)
  expect(sessions.map(({ session_id, depth }) => [session_id, depth])).toEqual([
    [later, 0],
    [parent, 0],
    [fork, 1],
  ])
  expect(sessions[2]?.parent_session_id).toBe(parent)
  expect((await runCli({ root }, 'sessions')).stdout).toContain(`\n└ ${fork}  `)
})

test('foreign, damaged and busy Sessions and open Turns are marked', async () => {
  const { root } = await commandPlace()
  const { parts, close } = await openParts(root)
  const turn = parts.log.place.ids.turn()
  const begun = {
    type: 'turn_started',
    turn_id: turn,
    data: { source: { presenter: 'x' } },
  } as const
  const open = await writeLog(root, [sessionStarted, begun])
  const whole = await writeLog(root, [sessionStarted, begun, turnEnded(turn)])
  const damaged = await writeLog(root, [
    sessionStarted,
    { type: 'notice', data: { code: 'x', text: 'moored' } },
  ])
  await corruptLog(root, damaged, (text) => text.replace('moored', 'adrift'))
  await writeForeignLog(root, OTHER, [sessionStarted])
  const keep = (bytes: Buffer, type: string) => parts.log.store.put([bytes], type)
  const writer = value(await acquireLog(parts.log.place, whole, { fold: sessionFold, keep }))
  const sessions = await list(root)
  const marks = sessions.map(({ session_id, foreign, busy, turn_open, damage }) => [
    session_id,
    { foreign, busy, turn_open, damage: damage?.kind },
  ])
  const none = { foreign: false, busy: false, turn_open: false, damage: undefined }
  expect(Object.fromEntries(marks)).toEqual({
    [open]: { ...none, turn_open: true },
    [whole]: { ...none, busy: true },
    [damaged]: { ...none, damage: 'log_damaged' },
    [OTHER]: { ...none, foreign: true },
  })
  const words = (await runCli({ root }, 'sessions')).stdout
  for (const mark of ['[a Turn is open]', '[busy]', '[damaged]', '[foreign]']) {
    expect(words).toContain(mark)
  }
  await writer.release()
  await close()
})

test('a hostile title is escaped on the terminal, and unchanged in JSON', async () => {
  const { root } = await commandPlace()
  const title = `${ESCAPE}]0;owned\u0007${ESCAPE}[2J\u202egnp.exe`
  await writeForeignLog(root, OTHER, [
    sessionStarted,
    { type: 'user_message', data: { text: title, prompt_mode: 'string' } },
  ])
  const { stdout } = await runCli({ root }, 'sessions')
  expect(stdout).toContain('\\u{1b}]0;owned\\u{7}\\u{1b}[2J\\u{202e}gnp.exe')
  expect(stdout).not.toMatch(UNSAFE_CHARACTER)
  expect((await list(root))[0]?.title).toBe(title)
})

test('Sessions that name each other as parents are all listed', async () => {
  const { root } = await commandPlace()
  const fork = (parent: SessionId) => ({
    type: 'session_fork',
    data: {
      parent_session_id: parent,
      at_seq: 0,
      at_hash: 'ab'.repeat(32),
      at_offset: 1,
      root_session_id: parent,
      resources_count: 0,
    },
  })
  await writeForeignLog(root, OTHER, [fork(THIRD)])
  await writeForeignLog(root, THIRD, [fork(OTHER)])
  const sessions = await list(root)
  expect(sessions.map(({ session_id }) => session_id).toSorted()).toEqual([OTHER, THIRD])
})

test('a Session is deleted only with confirmation, never without a terminal to ask', async () => {
  const { root, workspace } = await commandPlace()
  const id = await writeLog(root, [sessionStarted])
  const refused = await runCli({ root }, 'sessions', 'delete', id, '--json')
  expect([refused.code, failureOf(refused).kind]).toEqual([2, 'invalid_args'])
  expect(failureOf(refused).next_actions).toEqual([
    { action: 'Confirm with --yes.', command: `hawser sessions delete ${id} --yes` },
  ])
  expect(await list(root)).toHaveLength(1)
  const deleted = await runCli({ root }, 'sessions', 'delete', 'latest', '--yes', '--json')
  expect(deleted.code).toBe(0)
  expect(Deleted.parse(JSON.parse(deleted.stdout)).session_id).toBe(id)
  expect(await list(root)).toEqual([])
  expect(await readdir(join(workspace, '.hawser', 'sessions'))).toEqual(['.lock', `${id}.lease`])
  const again = await runCli({ root }, 'sessions', 'delete', id, '--yes', '--json')
  expect([again.code, failureOf(again).kind]).toEqual([1, 'not_found'])
})

test('a foreign or damaged Session can be deleted, one that is being written cannot', async () => {
  const { root } = await commandPlace()
  await writeForeignLog(root, OTHER, [sessionStarted])
  const damaged = await writeLog(root, [sessionStarted])
  await corruptLog(root, damaged, () => 'rubbish\n')
  for (const id of [OTHER, damaged]) {
    expect((await runCli({ root }, 'sessions', 'delete', id, '--yes')).code).toBe(0)
  }
  const id = await writeLog(root, [sessionStarted])
  const { parts, close } = await openParts(root)
  const keep = (bytes: Buffer, type: string) => parts.log.store.put([bytes], type)
  const writer = value(await acquireLog(parts.log.place, id, { fold: sessionFold, keep }))
  const busy = await runCli({ root }, 'sessions', 'delete', id, '--yes', '--json')
  expect([busy.code, failureOf(busy).kind]).toEqual([5, 'session_busy'])
  await writer.release()
  await close()
  expect((await list(root)).map(({ session_id }) => session_id)).toEqual([id])
})

test('on a terminal the question is on standard error, and only yes deletes', async () => {
  const { root, workspace } = await commandPlace()
  const id = await writeLog(root, [sessionStarted])
  const script = new URL('../../../bin/hawser.ts', import.meta.url)
  const program = await bundleScript(script, await freshFolder())
  const terminal = {
    columns: 100,
    rows: 10,
    cwd: workspace,
    env: { HAWSER_HOME: join(root, 'home') },
  }
  const ask = async (answer: string) => {
    const pty = openPty(process.execPath, [program, 'sessions', 'delete', id], terminal)
    await pty.until('[y/N]')
    pty.write(answer)
    return { ended: await pty.ended, screen: pty.terminal.screen().join('\n') }
  }
  expect((await ask('\r')).ended.code).toBe(1)
  expect((await ask('yess\u007f\u007f\u007fo\r')).ended.code).toBe(1)
  expect((await ask('\u0003')).ended).toEqual({ code: 0, signal: 2 })
  expect(await list(root)).toHaveLength(1)
  const yes = await ask('yes\r')
  expect(yes.ended.code).toBe(0)
  expect(yes.screen).toContain(`Deleted ${id}.`)
  expect(await list(root)).toEqual([])
})

test('a Log without its head is foreign, and is still listed', async () => {
  const { root } = await commandPlace()
  const id = await writeLog(root, [sessionStarted])
  await rm(join(root, 'home', 'heads', id))
  expect((await list(root)).map(({ foreign }) => foreign)).toEqual([true])
  expect(await readdir(join(logPath(root, id), '..'))).toContain(`${id}.ndjson`)
})
