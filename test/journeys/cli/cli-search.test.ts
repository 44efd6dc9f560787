import { expect, test } from 'vitest'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { SessionId, TurnId } from '../../../src/model/ids.ts'
import { Output as Found } from '../../../src/presenters/cli/commands/grep.ts'
import { Output as Used } from '../../../src/presenters/cli/commands/usage.ts'
import { NO_USAGE } from '../../../src/turn/usage.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { sessionStarted } from '../../support/log/story.ts'
import {
  commandPlace,
  writeForeignLog,
  corruptLog,
  writeLog,
} from '../../support/session/write-log.ts'

const OTHER = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

const message = (text: string): EventDraft => ({
  type: 'user_message',
  turn_id: TURN,
  data: { text, prompt_mode: 'string' },
})
const answered = (text: string): EventDraft => ({ type: 'assistant_message', data: { text } })
const called = (args: string): EventDraft => ({
  type: 'tool_call',
  data: { call_id: 'c', name: 'bash', arguments: args },
})
const resultOf = (output: string): EventDraft => ({
  type: 'tool_result',
  data: { call_id: 'c', name: 'bash', outcome: 'ok', output, duration_ms: 1 },
})

async function grep(root: string, ...argv: string[]) {
  const run = await runCli({ root }, 'grep', ...argv, '--json')
  return { code: run.code, ...Found.parse(JSON.parse(run.stdout)) }
}

test('messages, calls and results are found, the latest Session first, each line once', async () => {
  const { root } = await commandPlace()
  const first = await writeLog(root, [
    sessionStarted,
    message('a rope\nand another rope, rope'),
    answered('no such thing'),
    called('{"command":"tie \\"rope\\"\\nnow","times":7}'),
    resultOf('knot\r\nrope\r\n'),
    { type: 'notice', data: { code: 'rope', text: 'rope' } },
  ])
  const second = await writeLog(root, [sessionStarted, called('rope, and no JSON')])
  const { code, matches, searched, limited, incomplete } = await grep(root, 'rope"?$|rope,')
  expect({ code, searched, limited, incomplete }).toEqual({
    code: 0,
    searched: 2,
    limited: false,
    incomplete: [],
  })
  const rows = matches.map(({ session_id, seq, type, field, text, start, end }) => [
    session_id,
    seq,
    type,
    field,
    text,
    text.slice(start, end),
  ])
  expect(rows).toEqual([
    [second, 1, 'tool_call', 'arguments', 'rope, and no JSON', 'rope,'],
    [first, 1, 'user_message', 'text', 'a rope', 'rope'],
    [first, 1, 'user_message', 'text', 'and another rope, rope', 'rope,'],
    [first, 3, 'tool_call', 'arguments.command', 'tie "rope"', 'rope"'],
    [first, 4, 'tool_result', 'output', 'rope', 'rope'],
  ])
  const words = await runCli({ root }, 'grep', 'rope"?$|rope,')
  expect([words.code, words.stderr]).toEqual([0, ''])
  expect(words.stdout.split('\n')[4]).toBe(`${first}:-:4:tool_result: rope`)
})

test('without a match, or without any Session, the exit code is 1', async () => {
  const { root } = await commandPlace()
  const never = await grep(root, 'x')
  expect(never).toMatchObject({ code: 1, matches: [], searched: 0 })
  await writeLog(root, [sessionStarted, message('moored')])
  expect(await grep(root, 'adrift')).toMatchObject({ code: 1, matches: [], searched: 1 })
  const words = await runCli({ root }, 'grep', 'adrift')
  expect(words).toEqual({ code: 1, stdout: '', stderr: '' })
})

test('case, literal text, one Session and a limit can be chosen', async () => {
  const { root } = await commandPlace()
  const first = await writeLog(root, [sessionStarted, message('Rope (a.b)')])
  await writeLog(root, [sessionStarted, message('rope axb'), message('rope')])
  expect((await grep(root, 'rope')).matches).toHaveLength(2)
  expect((await grep(root, '-i', 'rope')).matches).toHaveLength(3)
  expect((await grep(root, 'a.b')).matches).toHaveLength(2)
  expect((await grep(root, '-F', '(a.b)')).matches).toHaveLength(1)
  expect((await grep(root, '-i', 'rope', '--session', first)).matches).toHaveLength(1)
  expect(await grep(root, '-i', 'rope', '--limit', '2')).toMatchObject({
    limited: true,
    matches: [{ seq: 1 }, { seq: 2 }],
  })
  expect((await runCli({ root }, 'grep', 'rope', '--limit', '1')).stderr).toMatch(/--limit/)
})

test('an invalid pattern and an invalid limit are refused', async () => {
  const { root } = await commandPlace()
  await writeLog(root, [sessionStarted])
  for (const argv of [
    ['(', '--json'],
    ['x', '--limit', '0', '--json'],
    ['x', '--limit', 'many', '--json'],
    ['x', '--session', 'no!', '--json'],
  ]) {
    const run = await runCli({ root }, 'grep', ...argv)
    expect([run.code, failureOf(run).kind]).toEqual([2, 'invalid_args'])
  }
})

test('of a long line the part around the match is shown, without terminal control characters', async () => {
  const { root } = await commandPlace()
  const text = `${'é'.repeat(5000)}\u001b[2J\tneedle\u202e${'😀'.repeat(5000)}`
  await writeLog(root, [sessionStarted, resultOf(text)])
  const { stdout } = await runCli({ root }, 'grep', 'needle')
  expect(stdout).toMatch(/: é+\\u\{1b\}\[2J {4}needle\\u\{202e\}(?:😀)+\n$/u)
  expect(stdout.length).toBeLessThan(400)
  const [match] = (await grep(root, 'needle')).matches
  expect(match?.text.slice(match.start, match.end)).toBe('needle')
  expect(match?.text.isWellFormed()).toBe(true)
})

test('text in a blob is searched, and a damaged Session up to the damage', async () => {
  const { root } = await commandPlace()
  const long = await writeLog(root, [sessionStarted, message(`${'x\n'.repeat(50_000)}needle`)])
  const damaged = await writeLog(root, [sessionStarted, message('needle'), message('more needle')])
  await corruptLog(root, damaged, (text) => text.replace('more', 'less'))
  const found = await grep(root, 'needle')
  expect(found.matches.map(({ session_id, seq }) => [session_id, seq])).toEqual([
    [damaged, 1],
    [long, 1],
  ])
  expect(found.incomplete).toMatchObject([{ session_id: damaged, why: 'damaged' }])
  expect((await runCli({ root }, 'grep', 'needle')).stderr).toMatch(/damaged at byte/)
})

const request = (model: string): EventDraft => ({
  type: 'provider_request',
  data: {
    call_index: 0,
    attempt: 0,
    dialect: 'rehearsal',
    model,
    contract_version: 'hw1',
    cache_key: 'k',
    request_sha256: 'ab'.repeat(32),
    request_bytes: 1,
    shared_prefix_bytes: 0,
    transport: 'none',
  },
})

const usage = (input: number, cost_usd?: number): EventDraft => ({
  type: 'provider_usage',
  data: {
    call_index: 0,
    usage: { input, cached_read: input / 2, cache_write: 1, output: 10, reasoning: 2 },
    ...(cost_usd === undefined ? {} : { cost_usd }),
    latency_ms: 1,
    pressure: 'unavailable',
    stop_reason: 'end_turn',
  },
})

async function used(root: string, ...argv: string[]) {
  const run = await runCli({ root }, 'usage', ...argv, '--json')
  expect(run.code).toBe(0)
  const { rows, total, sessions, damaged } = Used.parse(JSON.parse(run.stdout))
  return { rows, total, sessions, damaged }
}

test('calls are summed by day and model, over all Sessions or one', async () => {
  const { root } = await commandPlace()
  await writeForeignLog(root, OTHER, [sessionStarted, request('small'), usage(100, 0.1)])
  const today = await writeLog(root, [
    sessionStarted,
    request('big'),
    usage(1000, 0.2),
    usage(3000),
    request('small'),
    usage(10, 0.1),
  ])
  const none = { cache_write: 0, cost_usd: 0, calls_without_cost: 0 }
  const old = {
    ...none,
    calls: 1,
    input: 100,
    cached_read: 50,
    cache_write: 1,
    output: 10,
    reasoning: 2,
    cost_usd: 0.1,
  }
  const big = {
    ...none,
    calls: 2,
    input: 4000,
    cached_read: 2000,
    cache_write: 2,
    output: 20,
    reasoning: 4,
    cost_usd: 0.2,
    calls_without_cost: 1,
  }
  const small = { ...old, input: 10, cached_read: 5 }
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/)
  const all = await used(root)
  expect(all).toEqual({
    rows: [
      { day: '2026-01-31', model: 'small', ...old },
      { day, model: 'big', ...big },
      { day, model: 'small', ...small },
    ],
    total: {
      calls: 4,
      input: 4110,
      cached_read: 2055,
      cache_write: 4,
      output: 40,
      reasoning: 8,
      cost_usd: 0.4,
      calls_without_cost: 1,
    },
    sessions: 2,
    damaged: [],
  })
  const since = String(all.rows[1]?.day)
  expect((await used(root, '--since', since)).rows).toEqual(all.rows.slice(1))
  expect((await used(root, '--session', OTHER)).rows).toEqual(all.rows.slice(0, 1))
  expect((await used(root, '--session', today)).rows).toEqual(all.rows.slice(1))
  const { stdout } = await runCli({ root }, 'usage')
  expect(stdout).toMatch(/^2026-01-31 {2}small +1 +100 +50 % +10 +2 +- {2}\$0\.1000$/m)
  expect(stdout).toMatch(/^Total +4 +4,110 +50 % +40 +8 +- {2}\$0\.4000$/m)
  expect(stdout).toMatch(/The cost of 1 call is unknown/)
})

test('calls that Hawser did not survive are counted: the provider may have charged them', async () => {
  const { root } = await commandPlace()
  const usage_total = { ...NO_USAGE, unknown_calls: 2 }
  await writeLog(root, [
    sessionStarted,
    request('m'),
    { type: 'turn_ended', data: { status: 'interrupted', crash_recovered: true, usage_total } },
    request('m'),
    usage(10, 0.1),
  ])
  expect((await used(root)).total).toMatchObject({ calls: 1, cost_usd: 0.1, unknown_calls: 2 })
  const { stdout } = await runCli({ root }, 'usage')
  expect(stdout).toContain(
    '2 calls were running when Hawser stopped. The provider may have charged for them; they are not included.\n',
  )
})

test('a salvaged Session does not count its calls again, and damage is reported', async () => {
  const { root } = await commandPlace()
  const id = await writeLog(root, [
    sessionStarted,
    request('m'),
    usage(100),
    usage(10),
    usage(1000),
  ])
  await corruptLog(root, id, (text) => text.replace('"input":10,', '"input":20,'))
  await runCli({ root }, 'log', 'salvage', id)
  const { total, sessions, damaged } = await used(root)
  expect([total.calls, total.input, sessions, damaged]).toEqual([2, 1100, 2, [id]])
  expect((await runCli({ root }, 'usage')).stderr).toMatch(/damaged at byte/)
})

test('no usage is not an error, and an invalid day is refused', async () => {
  const { root } = await commandPlace()
  const none = { calls: 0, input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0 }
  const total = { ...none, cost_usd: 0, calls_without_cost: 0 }
  expect(await used(root)).toEqual({ rows: [], total, sessions: 0, damaged: [] })
  await writeLog(root, [sessionStarted])
  expect(await used(root)).toEqual({ rows: [], total, sessions: 1, damaged: [] })
  expect((await runCli({ root }, 'usage')).stdout).toBe('No model calls yet.\n')
  for (const day of ['yesterday', '2026-02-30', '2026-1-1']) {
    const run = await runCli({ root }, 'usage', '--since', day, '--json')
    expect([run.code, failureOf(run).kind]).toEqual([2, 'invalid_args'])
  }
})
