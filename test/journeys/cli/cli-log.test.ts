import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { EVENT_TYPES } from '../../../src/model/events/event.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { Output as Salvaged } from '../../../src/presenters/cli/commands/log/salvage.ts'
import { Output as Shown } from '../../../src/presenters/cli/commands/log/show.ts'
import { Output as Listed } from '../../../src/presenters/cli/commands/sessions.ts'
import { Output as Verified } from '../../../src/presenters/cli/commands/log/verify.ts'
import { failureOf, UNSAFE_CHARACTER } from '../../support/cli/cli-answer.ts'
import { runCli, type CliRun } from '../../support/cli/cli.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { generateLog } from '../../support/history/log-generator.ts'
import { startProgram } from '../../support/cli/program.ts'
import { sessionStarted } from '../../support/log/story.ts'
import {
  commandPlace,
  writeForeignLog,
  logPath,
  corruptLog,
  writeLog,
} from '../../support/session/write-log.ts'

const OTHER = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

const notice = (text: string): EventDraft => ({ type: 'notice', data: { code: 'story', text } })

function eventsOf({ stdout }: CliRun) {
  const lines = stdout.trimEnd().split('\n')
  return lines.map((line) => Shown.parse(JSON.parse(line)))
}

/** A Session with the rehearsal model, of three Turns by default. */
async function conversation(turns = 3) {
  const { root, workspace } = await commandPlace()
  await writeFile(join(workspace, 'notes.txt'), 'rope\u001b[31m\n')
  await runCli({ root }, 'run', 'Read notes.txt')
  if (turns > 1) await runCli({ root }, 'run', '--continue', 'What can you do?')
  if (turns > 2) await runCli({ root }, 'run', '--continue', 'List all files')
  const { stdout } = await runCli({ root }, 'sessions', '--json')
  const [listed] = Listed.parse(JSON.parse(stdout)).sessions
  const id = SessionId.parse(listed?.session_id)
  return { root, workspace, id }
}

test('log show --json is the Log, byte for byte', async () => {
  const { root, id } = await conversation()
  const { code, stdout, stderr } = await runCli({ root }, 'log', 'show', id, '--json')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toBe(await readFile(logPath(root, id), 'utf8'))
})

test('log show describes each Event, with control characters escaped', async () => {
  const { root, id } = await conversation()
  const { code, stdout, stderr } = await runCli({ root }, 'log', 'show', id)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^ {4}3 {2}\S+Z {2}user_message {2}Read notes\.txt$/m)
  expect(stdout).toMatch(/tool_call {2}read \{"path":"notes\.txt"\}$/m)
  expect(stdout).toContain('rope\\u{1b}[31m')
  expect(stdout).not.toMatch(UNSAFE_CHARACTER)
})

test('Events of every type are described', async () => {
  const { root } = await commandPlace()
  const id = await writeLog(root, [sessionStarted])
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
    await writeLog(root, generateLog(seed).drafts.slice(1), id)
  }
  const place = { path: '.envrc', kind: 'file', id: '1:2' } as const
  const about = {
    call_id: 'c1',
    subject: 'bash',
    args_sha256: '0'.repeat(64),
    mode: 'ask',
  } as const
  const unanswered = { decision: 'denied', scope: 'once', by: 'interrupt' } as const
  await writeLog(
    root,
    [
      { type: 'command_watched', data: { call_id: 'c1', paths: [place] } },
      { type: 'workspace_snapshot', data: { call_id: 'c1', why: 'the disk is full' } },
      { type: 'permission_asked', data: about },
      { type: 'permission_decision', data: { ...about, ...unanswered } },
    ],
    id,
  )
  const { code, stdout } = await runCli({ root }, 'log', 'show', id)
  expect(code).toBe(0)
  expect(stdout).not.toMatch(/unknown Event type|undefined|\[object|NaN/)
  const shownTypes = new Set(stdout.match(/(?<=^ *\d+ {2}\S+Z {2})\w+/gm))
  expect(EVENT_TYPES.filter((type) => !shownTypes.has(type))).toEqual(NEVER_MADE)
})

/** Types that generated Logs do not contain. */
const NEVER_MADE = ['session_fork', 'resource_ingested']

test('a long text is shortened, with the number of omitted characters', async () => {
  const { root } = await commandPlace()
  const id = await writeLog(root, [
    sessionStarted,
    { type: 'text_pinned', data: { by: 'person', text: 'x'.repeat(100_000) } },
  ])
  const { stdout } = await runCli({ root }, 'log', 'show', id)
  expect(stdout).toMatch(/^ {7}x{1200}\n {7}\[… 98,800 more characters\]\n$/m)
})

test('one Turn is shown by its number or id, and a missing one is reported', async () => {
  const { root, id } = await conversation()
  const second = eventsOf(await runCli({ root }, 'log', 'show', id, '--turn', '2', '--json'))
  const turn = second[0]?.turn_id
  expect(second.map(({ type }) => type)).toEqual([
    'turn_started',
    'user_message',
    'provider_request',
    'assistant_message',
    'provider_usage',
    'turn_ended',
  ])
  expect(new Set(second.map(({ turn_id }) => turn_id))).toEqual(new Set([turn]))
  const byId = await runCli({ root }, 'log', 'show', id, '--turn', String(turn), '--json')
  expect(eventsOf(byId)).toEqual(second)
  const none = await runCli({ root }, 'log', 'show', id, '--turn', '4', '--json')
  expect([none.code, failureOf(none)]).toMatchObject([
    1,
    { kind: 'not_found', details: { turns: 3 } },
  ])
  const bad = await runCli({ root }, 'log', 'show', id, '--turn', 'two', '--json')
  expect([bad.code, failureOf(bad).kind]).toEqual([2, 'invalid_args'])
})

test('log show --follow shows what another process writes, until a signal', async () => {
  const { root, id } = await conversation()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const shown = await startProgram({ root }, ['log', 'show', id, '--follow', '--json'])
    await shown.waitFor('"type":"turn_ended"')
    await writeLog(root, [notice(`on ${signal}`)], id)
    await shown.waitFor(`on ${signal}`)
    shown.child.kill(signal)
    expect(await shown.ended).toEqual({ code: 0, signal: null })
    expect(shown.stdout()).toBe(await readFile(logPath(root, id), 'utf8'))
    expect(shown.stderr()).toBe('')
  }
})

test('following ends when the output is closed', async () => {
  const { root, id } = await conversation()
  const shown = await startProgram({ root }, ['log', 'show', id, '--follow'])
  await shown.waitFor('turn_ended')
  shown.child.stdout?.destroy()
  // The first write detects that the reader is gone, so there is no second one.
  await writeLog(root, [notice('one')], id)
  await writeLog(root, [notice('two')], id)
  expect(await shown.ended).toEqual({ code: 0, signal: null })
  expect(shown.stderr()).toBe('')
})

test('a damaged Log is shown up to the damage, then the damage is reported', async () => {
  const { root, id } = await conversation()
  await corruptLog(root, id, (text) => text.replace('What can you do?', 'What can you be?'))
  const events = await runCli({ root }, 'log', 'show', id, '--json')
  const before = (await readFile(logPath(root, id), 'utf8')).split('What can')[0] ?? ''
  const whole = before.slice(0, before.lastIndexOf('\n') + 1)
  expect([events.code, events.stdout.startsWith(whole)]).toEqual([1, true])
  expect(failureOf(events)).toMatchObject({
    kind: 'log_damaged',
    details: { offset: whole.length },
  })
  const words = await runCli({ root }, 'log', 'show', id)
  expect(words.code).toBe(1)
  expect(words.stderr).toMatch(/damaged at byte \d+[^]*hawser log salvage ses_/)
})

test('a foreign Log is shown, whatever it contains, with a note that it is unverified', async () => {
  const { root } = await commandPlace()
  const evil = '\u001b[2J\u202e\u0007'
  await writeForeignLog(root, OTHER, [
    sessionStarted,
    { type: `later${evil}`, data: { text: evil } },
    { type: 'tool_call', data: { call_id: 'c', name: evil, arguments: evil } },
    { type: 'tool_result', data: { outcome: evil } },
    { type: 'user_message', data: { text_blob: `${'0'.repeat(64)}.txt`, prompt_mode: 'string' } },
  ])
  const { code, stdout, stderr } = await runCli({ root }, 'log', 'show', OTHER)
  expect(code).toBe(0)
  expect(stdout).not.toMatch(UNSAFE_CHARACTER)
  expect(stdout).toContain('later\\u{1b}[2J\\u{202e}\\u{7}')
  expect(stdout).toContain('[The payload of this text is missing.]')
  expect(stderr).toMatch(/was created elsewhere/)
})

test('an intact Log is verified with its figures, and so is every request', async () => {
  const { root, id } = await conversation(1)
  const { code, stdout } = await runCli({ root }, 'log', 'verify', id, '--requests', '--json')
  const lines = (await readFile(logPath(root, id), 'utf8')).split('\n')
  expect(code).toBe(0)
  expect(Verified.parse(JSON.parse(stdout))).toEqual({
    ok: true,
    session_id: id,
    whole: true,
    events: lines.length - 1,
    bytes: lines.join('\n').length,
    last_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    unknown: 0,
    compactions: 0,
    checkpoints: [],
    foreign: false,
    torn_bytes: 0,
    requests: { checked: 2, not_comparable: 0, outcome: 'identical', mismatches: [] },
  })
  const words = await runCli({ root }, 'log', 'verify', id, '--requests')
  expect(words.stdout).toMatch(/is intact: \d+ Events in [\d,]+ bytes[^]*2 requests rebuilt/)
})

test('a torn tail is reported and is not damage; damage and a truncated end are', async () => {
  const { root, id } = await conversation()
  const verify = async () => {
    const run = await runCli({ root }, 'log', 'verify', id, '--json')
    const { whole, torn_bytes, damage } = Verified.parse(JSON.parse(run.stdout))
    return { code: run.code, whole, torn_bytes, reason: damage?.details['reason'] }
  }
  const good = await readFile(logPath(root, id), 'utf8')
  await corruptLog(root, id, (text) => `${text}{"v":1,"seq":`)
  expect(await verify()).toEqual({ code: 0, whole: true, torn_bytes: 13, reason: undefined })
  expect((await runCli({ root }, 'log', 'verify', id)).stdout).toMatch(/incomplete: 13 bytes/)
  await corruptLog(root, id, () => good.replace('What can you do?', 'What can you be?'))
  expect(await verify()).toEqual({ code: 1, whole: false, torn_bytes: 0, reason: 'checksum' })
  const words = await runCli({ root }, 'log', 'verify', id, '--requests')
  expect(words.stdout).toMatch(/is damaged[^]*hawser log salvage[^]*2 requests before the damage/)
  await corruptLog(root, id, () => good.slice(0, good.lastIndexOf('\n', good.length - 2) + 1))
  expect(await verify()).toEqual({ code: 1, whole: false, torn_bytes: 0, reason: 'head_missing' })
})

test('the requests before the damage of a Log are verified if their payloads exist', async () => {
  const { root, workspace, id } = await conversation()
  const good = await readFile(logPath(root, id), 'utf8')
  const last = good.lastIndexOf('"type":"provider_request"')
  const verify = async (change: (text: string) => string) => {
    await corruptLog(root, id, () => change(good))
    const run = await runCli({ root }, 'log', 'verify', id, '--requests', '--json')
    const { damage, requests } = Verified.parse(JSON.parse(run.stdout))
    return { code: run.code, reason: damage?.details['reason'], requests }
  }
  const spoilt = (text: string) =>
    text.slice(0, last) + text.slice(last).replace('"type"', '"kind"')
  const reason = 'checksum'
  const requests = { checked: 4, not_comparable: 0, outcome: 'identical', mismatches: [] }
  expect(await verify(spoilt)).toEqual({ code: 1, reason, requests })
  const words = await runCli({ root }, 'log', 'verify', id, '--requests')
  expect(words.stdout).toMatch(/is damaged[^]*\n4 requests before the damage rebuilt, identical/)
  await registerDamage(root, 'blobs', 'All blobs are missing.')
  await rm(join(workspace, '.hawser', 'blobs'), { recursive: true })
  expect(await verify(spoilt)).toEqual({ code: 1, reason, requests: undefined })
  const without = await runCli({ root }, 'log', 'verify', id, '--requests')
  expect(without.stdout).toMatch(/is damaged[^]*Requests were not checked: the Log is damaged, and/)
})

test('a request that does not follow from the Log is found', async () => {
  const { root, id } = await conversation(1)
  const shown = eventsOf(await runCli({ root }, 'log', 'show', id, '--json'))
  const request = shown.findLast(({ type }) => type === 'provider_request')
  const forged = JSON.parse(JSON.stringify(request?.data))
  await writeLog(
    root,
    [{ type: 'provider_request', data: { ...forged, request_sha256: '0'.repeat(64) } }],
    id,
  )
  const run = await runCli({ root }, 'log', 'verify', id, '--requests', '--json')
  const { whole, requests } = Verified.parse(JSON.parse(run.stdout))
  expect([run.code, whole, requests?.checked]).toEqual([1, false, 3])
  expect(requests?.mismatches[0]).toMatchObject({
    seq: shown.length,
    what: 'request_sha256',
    recorded: '0'.repeat(64),
  })
  const words = await runCli({ root }, 'log', 'verify', id, '--requests')
  expect(words.stdout).toMatch(/1 of 3 rebuilt requests differ from the record:\n {2}Event \d+/)
})

test('a Session without a head is foreign, which is reported and is not damage', async () => {
  const { root, id } = await conversation()
  await rm(join(root, 'home', 'heads', id))
  const run = await runCli({ root }, 'log', 'verify', id)
  expect([run.code, run.stdout]).toEqual([0, expect.stringMatching(/It is foreign/)])
})

test('the intact Events of a damaged Log become a new Session that can continue; missing ones are listed', async () => {
  const { root, id } = await conversation()
  const spoilt = (text: string) => text.replace('What can you do?', 'What can you be?')
  await corruptLog(root, id, spoilt)
  await registerDamage(root, 'events', 'Requests follow an Event that could not be salvaged.')
  const seq = eventsBefore(await readFile(logPath(root, id), 'utf8'), 'What can you be?')
  const before = await readFile(logPath(root, id), 'utf8')
  const run = await runCli({ root }, 'log', 'salvage', id, '--json')
  const saved = Salvaged.parse(JSON.parse(run.stdout))
  expect([run.code, saved]).toEqual([
    0,
    {
      ok: true,
      session_id: expect.not.stringMatching(id),
      salvaged_from: id,
      events: before.split('\n').length - 2,
      missing: [{ from_seq: seq, to_seq: seq }],
      continuable: true,
    },
  ])
  expect(await readFile(logPath(root, id), 'utf8')).toBe(before)
  const on = await runCli({ root }, 'run', '--session', saved.session_id, 'List all files')
  expect(on.code).toBe(0)
  const words = await runCli({ root }, 'log', 'salvage', id)
  expect(words.stdout).toMatch(
    new RegExp(`^Copied \\d+ Events[^]*Missing: 1 Event, ${seq}\\.[^]*hawser run --session ses_`),
  )
})

test('salvage reports when the rest cannot continue, and when nothing is left', async () => {
  const { root } = await commandPlace()
  const id = await writeLog(root, [sessionStarted, notice('one'), notice('two')])
  await corruptLog(root, id, (text) => text.replace('harbour', 'seaside'))
  const run = await runCli({ root }, 'log', 'salvage', id, '--json')
  expect(Salvaged.parse(JSON.parse(run.stdout))).toMatchObject({
    events: 2,
    missing: [{ from_seq: 0, to_seq: 0 }],
    continuable: false,
  })
  await corruptLog(root, id, () => 'rubbish\n')
  const before = (await runCli({ root }, 'sessions', '--json')).stdout
  const none = await runCli({ root }, 'log', 'salvage', id, '--json')
  expect([none.code, failureOf(none).kind]).toEqual([1, 'log_damaged'])
  expect((await runCli({ root }, 'sessions', '--json')).stdout).toBe(before)
  await writeForeignLog(root, OTHER, [sessionStarted])
  const foreign = await runCli({ root }, 'log', 'salvage', OTHER, '--json')
  expect([foreign.code, failureOf(foreign).kind]).toEqual([1, 'session_foreign'])
})

test('an invalid Session is refused by every log command', async () => {
  const { root } = await conversation()
  for (const command of ['show', 'verify', 'salvage', 'export']) {
    const gone = await runCli({ root }, 'log', command, OTHER, '--json')
    expect([gone.code, failureOf(gone).kind]).toEqual([1, 'not_found'])
    const bad = await runCli({ root }, 'log', command, '../../etc', '--json')
    expect([bad.code, failureOf(bad).kind]).toEqual([2, 'invalid_args'])
  }
})

function eventsBefore(log: string, text: string): number {
  return (log.split(text)[0] ?? '').split('\n').length - 1
}
