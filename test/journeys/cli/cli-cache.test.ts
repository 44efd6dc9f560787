import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { EventData, EventDraft } from '../../../src/model/events/event.ts'
import { TurnId } from '../../../src/model/ids.ts'
import { Output as Explained } from '../../../src/presenters/cli/commands/cache-explain.ts'
import { Output as Probed } from '../../../src/presenters/cli/commands/cache-probe.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { sessionStarted } from '../../support/log/story.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'
import { commandPlace, corruptLog, writeLog } from '../../support/session/write-log.ts'

const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

const began: EventDraft = {
  type: 'turn_started',
  turn_id: TURN,
  data: { source: { presenter: 'cli' } },
}

function requestWith(more: Partial<EventData<'provider_request'>>): EventDraft {
  const data = {
    call_index: 0,
    attempt: 0,
    dialect: 'messages',
    model: 'm\u001b[31m',
    contract_version: 'hw1',
    cache_key: 'key',
    request_sha256: 'a'.repeat(64),
    request_bytes: 20_000,
    shared_prefix_bytes: 0,
    transport: 'http-sse',
    ...more,
  } as const
  return { type: 'provider_request', turn_id: TURN, data }
}

function answered(call_index: number, cached_read: number): EventDraft {
  const usage = { input: 5000, cached_read, cache_write: 0, output: 1, reasoning: 0 }
  const data = {
    call_index,
    usage,
    latency_ms: 1,
    pressure: 'unavailable',
    stop_reason: 'x',
  } as const
  return { type: 'provider_usage', turn_id: TURN, data }
}

const CALLS: readonly EventDraft[] = [
  sessionStarted,
  began,
  requestWith({}),
  answered(0, 0),
  requestWith({ call_index: 1, shared_prefix_bytes: 19_000 }),
  answered(1, 4750),
  requestWith({
    call_index: 2,
    shared_prefix_bytes: 12_000,
    prefix_break: { at: 12_000, cause: 'transient_retired' },
  }),
  answered(2, 0),
  requestWith({ call_index: 3, shared_prefix_bytes: 9, prefix_break: { at: 9, cause: 'unknown' } }),
]

async function explained(root: string, session: string) {
  const ran = await runCli({ root }, 'cache', 'explain', session, '--json')
  const lines = ran.stdout.trimEnd().split('\n')
  return { ...ran, report: lines.map((line) => Explained.parse(JSON.parse(line))) }
}

test('cache explain shows for every request what it shared, what was cached and why it broke', async () => {
  const { root } = await commandPlace()
  const session = await writeLog(root, CALLS)
  const { code, report } = await explained(root, 'latest')
  expect(code).toBe(0)
  const rows = report.slice(0, -1).map((line) => {
    if (line.type !== 'request') throw new Error('a summary is the last line')
    const { turn, call_index, shared_ratio, usage, prefix_break, finding } = line
    return [turn, call_index, shared_ratio, usage?.cached_ratio, prefix_break?.cause, finding]
  })
  expect(rows).toEqual([
    [1, 0, 0, 0, undefined, undefined],
    [1, 1, 0.95, 0.95, undefined, undefined],
    [1, 2, 0.6, 0, 'transient_retired', 'unexplained'],
    [1, 3, 0.0005, undefined, 'unknown', 'bug'],
  ])
  expect(report.at(-1)).toEqual({
    type: 'summary',
    ok: true,
    session_id: session,
    requests: 4,
    answered: 3,
    after_first: { input: 10_000, cached_read: 4750, cache_write: 0, cached_ratio: 0.475 },
    request_bytes: 80_000,
    sent_bytes: 80_000,
    continued: 0,
    breaks: { transient_retired: 1, unknown: 1 },
    findings: { unexplained: 1, bug: 1 },
  })
})

test('for people, an unknown break is called a bug, and no output controls the terminal', async () => {
  const { root } = await commandPlace()
  await writeLog(root, CALLS)
  const { code, stdout, stderr } = await runCli({ root }, 'cache', 'explain', 'latest')
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.trimEnd().split('\n')
  expect(lines[0]).toBe('m\\u{1b}[31m (messages over http-sse, contract hw1)')
  expect(lines).toContain(
    '    prefix breaks at byte 9: no Event explains it; this is a bug in Hawser',
  )
  expect(lines.at(-1)).toBe(
    '4 requests; after the first call 48 % of the tokens were cached: 4,750 of 10,000.',
  )
})

test('a Session without a Turn sent no request', async () => {
  const { root } = await commandPlace()
  await writeLog(root, [sessionStarted])
  const { stdout } = await runCli({ root }, 'cache', 'explain', 'latest')
  expect(stdout).toBe('No request was sent.\n')
})

test('a damaged Log is explained up to the damage, with exit code 1', async () => {
  const { root } = await commandPlace()
  const session = await writeLog(root, CALLS)
  await corruptLog(root, session, (text) => text.replace('"call_index":3', '"call_index":4'))
  const { code, stdout } = await runCli({ root }, 'cache', 'explain', session, '--json')
  const lines = stdout.trimEnd().split('\n')
  expect([code, lines.length]).toEqual([1, 5])
  expect(failureOf({ code, stdout, stderr: '' }).kind).toBe('log_damaged')
})

test('a missing Session cannot be explained', async () => {
  const { root } = await commandPlace()
  await writeLog(root, [sessionStarted])
  const ran = await runCli({ root }, 'cache', 'explain', 'zzzz', '--json')
  expect(failureOf(ran).kind).toBe('not_found')
})

async function probed(root: string, argv: readonly string[], env: Record<string, string> = {}) {
  const ran = await runCli({ root, env }, 'cache', 'probe', ...argv, '--json')
  return { code: ran.code, report: Probed.parse(JSON.parse(ran.stdout)) }
}

/** A folder for temporary files, which must be empty afterwards. */
async function scratchIn(root: string): Promise<string> {
  const folder = join(root, 'scratch')
  await mkdir(folder)
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  return folder
}

test('a dry run shows what would be sent, and sends nothing [PC-074]', async () => {
  const { root, workspace } = await commandPlace()
  const server = await scriptedServer(() => 'cut')
  onTestFinished(() => server.close())
  const env = { OPENAI_API_KEY: CANARY_KEY, OPENAI_BASE_URL: server.baseUrl('responses') }
  const scratch = await scratchIn(root)
  const { code, report } = await probed(root, ['--live', '--dry-run'], env)
  expect({ code, ...report }).toMatchObject({
    code: 0,
    dry_run: true,
    live: true,
    plan: {
      vary: 'transport',
      provider: 'openai',
      to: server.baseUrl('responses'),
      variants: ['http-sse', 'websocket'],
      least_calls: 12,
    },
  })
  expect(report.comparison).toBeUndefined()
  expect(server.requests).toEqual([])
  expect([...(await readdir(workspace)), ...(await readdir(scratch))]).toEqual([])
})

test('both transports cache the same, and only the socket continues [PC-029] [PC-031]', async () => {
  const { root } = await commandPlace()
  const scratch = await scratchIn(root)
  const { code, report } = await probed(root, [])
  const { attributed_to, runs = [], moved, behaved } = report.comparison ?? {}
  expect({ code, attributed_to, behaved, moved }).toEqual({
    code: 0,
    attributed_to: 'transport',
    behaved: true,
    moved: { first: 0, after_first: 0 },
  })
  expect(runs.map(({ variant, requests, continued }) => [variant, requests, continued])).toEqual([
    ['http-sse', 6, 0],
    ['websocket', 6, 5],
  ])
  const [http, socket] = runs
  expect(http?.sent_bytes).toBe(http?.request_bytes)
  expect(socket?.sent_bytes).toBeLessThan(socket?.request_bytes ?? 0)
  expect(await readdir(scratch)).toEqual([])
})

test('a workspace that is named late keeps the cache warm for others, and its files are still found [PC-027]', async () => {
  const { root } = await commandPlace()
  const scratch = await scratchIn(root)
  const { code, report } = await probed(root, ['--vary', 'contract'])
  const { runs = [], moved, behaved } = report.comparison ?? {}
  expect({ code, behaved }).toEqual({ code: 0, behaved: true })
  const shares = runs.map(({ variant, first, lowest_ratio, other_workspace, reads }) => ({
    variant,
    cold: first.cached_ratio === 0,
    warm: lowest_ratio > 0.5,
    elsewhere: (other_workspace?.cached_ratio ?? 0) > 0.9,
    reads,
  }))
  const reads = { expected: 6, right: 6, outside: 0 }
  expect(shares).toEqual([
    { variant: 'early', cold: true, warm: true, elsewhere: false, reads },
    { variant: 'late', cold: true, warm: true, elsewhere: true, reads },
  ])
  expect(moved?.other_workspace).toBeGreaterThan(0.9)
  expect(await readdir(scratch)).toEqual([])
})

test('live, the refusal of a provider is reported, and nothing is left behind', async () => {
  const { root } = await commandPlace()
  const scratch = await scratchIn(root)
  const server = await scriptedServer(() => ({ status: 401, body: '{}' }))
  onTestFinished(() => server.close())
  const env = { ANTHROPIC_API_KEY: CANARY_KEY, ANTHROPIC_BASE_URL: server.baseUrl('messages') }
  const argv = ['cache', 'probe', '--live', '--vary', 'contract', '--json']
  const ran = await runCli({ root, env }, ...argv)
  expect([ran.code, failureOf(ran).kind, server.requests.length]).toEqual([6, 'auth', 1])
  expect(await readdir(scratch)).toEqual([])
})

test('live without a key is refused', async () => {
  const { root } = await commandPlace()
  const ran = await runCli({ root }, 'cache', 'probe', '--live', '--json')
  expect([ran.code, failureOf(ran).kind]).toEqual([6, 'not_configured'])
})
