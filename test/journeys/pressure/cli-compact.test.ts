import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acquireLog } from '../../../src/log/open.ts'
import { SessionId, TurnId } from '../../../src/model/ids.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import { Output } from '../../../src/presenters/cli/commands/compact.ts'
import { Output as Pinned } from '../../../src/presenters/cli/commands/pin.ts'
import { Output as Verified } from '../../../src/presenters/cli/commands/log/verify.ts'
import { sessionFold } from '../../../src/session/live/state.ts'
import { failureOf, UNSAFE_CHARACTER } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { startProgram } from '../../support/cli/program.ts'
import { sessionStarted, value } from '../../support/log/story.ts'
import { commandPlace, logPath, writeLog } from '../../support/session/write-log.ts'

interface Place {
  readonly root: string
  readonly workspace: string
  readonly id: SessionId
}

/** A Session in which each of these files was read in a Turn of its own. */
async function sessionReading(...names: readonly string[]): Promise<Place> {
  const { root, workspace } = await commandPlace()
  for (const name of new Set(names)) {
    const lines = Array.from({ length: 300 }, (_, at) => `${name} ${at}: the tide turns at noon`)
    await writeFile(join(workspace, name), lines.join('\n'))
  }
  await say(root, 'What can you do?', false)
  for (const name of names) await say(root, `Read ${name}`)
  const { stdout } = await runCli({ root }, 'sessions', '--json')
  return { root, workspace, id: SessionId.parse(/"session_id":"(\w+)"/.exec(stdout)?.[1]) }
}

async function say(root: string, text: string, isNext = true): Promise<void> {
  const { code } = await runCli({ root }, 'run', ...(isNext ? ['--continue'] : []), text)
  expect(code).toBe(0)
}

async function compact({ root, id }: Place, ...options: readonly string[]) {
  const { code, stdout, stderr } = await runCli({ root }, 'compact', id, ...options, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return Output.parse(JSON.parse(stdout))
}

async function recorded({ root, id }: Place, type: string): Promise<Record<string, unknown>[]> {
  const log = await readFile(logPath(root, id), 'utf8')
  const events = log.trimEnd().split('\n')
  return events.flatMap((line) => {
    const event = JSON.parse(line) as { type: string; data: Record<string, unknown> }
    return event.type === type ? [event.data] : []
  })
}

async function nextRequest({ root, id }: Place): Promise<string> {
  const program = await startProgram({ root }, ['request', id, '--prompt', 'And now?'])
  expect((await program.ended).code).toBe(0)
  return program.stdout()
}

async function proved({ root, id }: Place): Promise<void> {
  const { code, stdout } = await runCli({ root }, 'log', 'verify', id, '--requests', '--json')
  expect([code, Verified.parse(JSON.parse(stdout)).whole]).toEqual([0, true])
}

test('a dry run writes nothing, and its figures are those that the compaction records [PC-047]', async () => {
  const place = await sessionReading('a.txt', 'b.txt', 'c.txt')
  const log = await readFile(logPath(place.root, place.id))
  const planned = await compact(place, '--dry-run')
  expect(planned).toMatchObject({ dry_run: true, compacted: true, strategy: 'elide' })
  expect(await readFile(logPath(place.root, place.id))).toEqual(log)

  const { request_bytes, dry_run, ...figures } = planned
  const { dry_run: written, ...done } = await compact(place)
  expect(done).toEqual(figures)
  expect([dry_run, written]).toEqual([true, false])
  const [event] = await recorded(place, 'history_compaction')
  expect(event).toMatchObject({
    trigger: 'manual',
    tokens_before: planned.tokens_before,
    tokens_after: planned.tokens_after,
  })
  expect(request_bytes?.after).toBeLessThan(request_bytes?.before ?? 0)
  await say(place.root, 'Read a.txt')
  await proved(place)
})

test('a summary replaces old Turns, no earlier line of the Log changes, and the Session continues [PC-062]', async () => {
  const place = await sessionReading('a.txt', 'b.txt', 'c.txt', 'a.txt')
  await runCli({ root: place.root }, 'pin', place.id, 'The release is on Friday.')
  await compact(place)
  await say(place.root, 'Read b.txt')
  const before = await readFile(logPath(place.root, place.id))
  const done = await compact(place)
  expect(done).toMatchObject({ strategy: 'excerpts', range: { from_seq: 0 }, kept: { pinned: 1 } })
  const after = await readFile(logPath(place.root, place.id))
  expect(after.subarray(0, before.length)).toEqual(before)
  expect(await nextRequest(place)).toContain('The release is on Friday.')
  await say(place.root, 'What did it say?')
  await proved(place)
})

test('after an undo, a new process composes the same bytes as before the compaction', async () => {
  const place = await sessionReading('a.txt', 'b.txt', 'c.txt')
  const first = await nextRequest(place)
  await compact(place)
  const second = await nextRequest(place)
  expect(second.length).toBeLessThan(first.length)
  expect(await compact(place)).toMatchObject({ strategy: 'excerpts' })

  const undone = await compact(place, '--undo')
  expect(undone.undone).toMatchObject({ range: { from_seq: 0 }, in_force: 1 })
  expect(await nextRequest(place)).toBe(second)
  expect((await compact(place, '--undo')).undone?.in_force).toBe(0)
  expect(await nextRequest(place)).toBe(first)
  const nothing = await runCli({ root: place.root }, 'compact', place.id, '--undo', '--json')
  expect([nothing.code, failureOf(nothing).kind]).toEqual([1, 'not_found'])
  await proved(place)
})

test('the text says what the model no longer sees, and how to undo and to search', async () => {
  const { root, id } = await sessionReading('a.txt', 'b.txt', 'c.txt')
  const planned = await runCli(
    { root, terminal: true, env: { NO_COLOR: '1' } },
    'compact',
    '--dry-run',
  )
  expect([planned.code, planned.stderr]).toEqual([0, ''])
  expect(planned.stdout).toMatch(
    /^Dry run: nothing was written\.\n\d long tool outputs \(.+\) would be replaced by pointers\.\n/,
  )
  expect(planned.stdout).toContain(`\nTo compact: hawser compact ${id}\n`)
  const done = await runCli({ root, terminal: true, env: { NO_COLOR: '1' } }, 'compact')
  expect(done.stdout).toMatch(/^Compacted: pointers replace \d long tool outputs \(.+\)\.\n/)
  expect(done.stdout).toContain(`hawser compact ${id} --undo\n`)
  expect(done.stdout).toContain(`hawser grep PATTERN --session ${id}\n`)
  const undone = await runCli({ root, terminal: true, env: { NO_COLOR: '1' } }, 'compact', '--undo')
  expect(undone.stdout).toMatch(/^Undid the last compaction/)
  for (const { stdout } of [planned, done, undone]) {
    expect(stdout).not.toMatch(UNSAFE_CHARACTER)
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80)
  }
  const found = await runCli({ root }, 'grep', 'a.txt 7:', '--session', id)
  expect([found.code, found.stdout]).toEqual([0, expect.stringContaining('a.txt 7: the tide')])
})

test('with nothing to gain it does nothing, successfully; a target out of reach is a failure', async () => {
  const { root, workspace } = await commandPlace()
  await say(root, 'What can you do?', false)
  const small = await runCli({ root }, 'compact')
  expect([small.code, small.stdout]).toEqual([0, expect.stringMatching(/^Nothing to compact\.\n/)])
  const dry = await runCli({ root }, 'compact', '--dry-run', '--json')
  expect(Output.parse(JSON.parse(dry.stdout))).toMatchObject({
    compacted: false,
    reason: 'nothing_to_compact',
  })

  // A checkpoint repeats the pinned text, which is more than half of the conversation.
  await runCli({ root }, 'pin', 'latest', 'x'.repeat(LIMITS.pinned_text_bytes))
  await writeFile(join(workspace, 'a.txt'), 'The tide turns at noon.\n'.repeat(280))
  await say(root, 'Read a.txt')
  const missed = await runCli({ root }, 'compact', '--json')
  expect(missed.code).toBe(1)
  const { reason, target = 0, tokens_least } = Output.parse(JSON.parse(missed.stdout))
  expect(reason).toBe('target_not_reached')
  expect(tokens_least).toBeGreaterThan(target)
  const words = await runCli({ root }, 'compact')
  expect([words.code, words.stderr]).toEqual([1, ''])
  expect(words.stdout).toMatch(/^Not compacted: [^]*with a larger one:\n  hawser run/)
})

test('contradicting options, a busy Session and a foreign one are refused', async () => {
  const { root, id } = await sessionReading('a.txt', 'b.txt')
  const both = await runCli({ root }, 'compact', id, '--undo', '--dry-run', '--json')
  expect([both.code, failureOf(both).kind]).toEqual([2, 'invalid_args'])

  const { parts, close } = await openParts(root)
  const keep = (bytes: Buffer, type: string) => parts.log.store.put([bytes], type)
  const writer = value(await acquireLog(parts.log.place, id, { fold: sessionFold, keep }))
  for (const options of [[], ['--undo']]) {
    const busy = await runCli({ root }, 'compact', id, ...options, '--json')
    expect([busy.code, failureOf(busy).kind]).toEqual([5, 'session_busy'])
  }
  await writer.release()
  await close()

  await rm(join(root, 'home/heads', id))
  const foreign = await runCli({ root }, 'compact', id, '--json')
  expect([foreign.code, failureOf(foreign).kind]).toEqual([1, 'session_foreign'])
  expect(await recorded({ root, workspace: '', id }, 'history_compaction')).toEqual([])
})

test('a Session whose last Turn has not ended is not previewed', async () => {
  const { root } = await commandPlace()
  const turn_id = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')
  const turnStarted = {
    type: 'turn_started',
    turn_id,
    data: { source: { presenter: 'cli' } },
  } as const
  const id = await writeLog(root, [sessionStarted, turnStarted])
  const open = await runCli({ root }, 'compact', id, '--dry-run', '--json')
  expect([open.code, failureOf(open).kind]).toEqual([5, 'turn_in_progress'])
  expect(failureOf(open).next_actions).toHaveLength(1)
})

test('pinned texts are listed with their size, and more than 8 KiB is refused with the figures', async () => {
  const { root, id } = await sessionReading()
  const none = await runCli({ root }, 'pin')
  expect([none.code, none.stdout]).toEqual([0, expect.stringContaining('has no pinned text')])
  await runCli({ root }, 'pin', id, 'Mind\u001b the tide.')
  const { stdout } = await runCli({ root }, 'pin', id)
  expect(stdout).toContain('1. Mind\\u{1b} the tide.\n1 pinned text, 15 of 8,192 bytes.\n')
  const json = await runCli({ root }, 'pin', '--json')
  expect(Pinned.parse(JSON.parse(json.stdout)).pinned).toEqual(['Mind\u001b the tide.'])
  const much = await runCli({ root }, 'pin', id, 'x'.repeat(8_178), '--json')
  expect(much.code).toBe(2)
  expect(failureOf(much)).toMatchObject({
    kind: 'too_large',
    details: { limit: 8_192, actual: 8_178, pinned: 15 },
    next_actions: [{ command: `hawser pin ${id}` }, { command: `hawser pin ${id} --remove N` }],
  })
})

test('one argument that names no Session is the text of a pin in the latest Session', async () => {
  const { root, id } = await sessionReading()
  for (const text of ['Mind the tide.', 'tide']) {
    const pinned = await runCli({ root }, 'pin', text, '--json')
    expect(pinned.code).toBe(0)
    expect(Pinned.parse(JSON.parse(pinned.stdout))).toMatchObject({ session_id: id, text })
  }
  // The end of an id names the Session, and what begins like an id is never a text.
  const listed = await runCli({ root }, 'pin', id.slice(-6))
  expect(listed.stdout).toContain('1. Mind the tide.\n2. tide\n2 pinned texts,')
  const absent = await runCli({ root }, 'pin', 'ses_01kg8m2q3r4s5t6v7w8x9y0z12', '--json')
  expect([absent.code, failureOf(absent).kind]).toEqual([1, 'not_found'])
})

test('a pin is removed by its number, and a wrong number is refused', async () => {
  const { root, id } = await sessionReading()
  await runCli({ root }, 'pin', 'Mind the tide.')
  await runCli({ root }, 'pin', 'Coil the rope.')
  const removed = await runCli({ root }, 'pin', id, '--remove', '1', '--json')
  expect(Pinned.parse(JSON.parse(removed.stdout))).toMatchObject({
    removed: 'Mind the tide.',
    pinned: ['Coil the rope.'],
  })
  const words = await runCli({ root }, 'pin', '--remove', '1')
  expect(words.stdout).toContain('0 pinned texts, 0 of 8,192 bytes.')
  const again = await runCli({ root }, 'pin', id, '--remove', '1', '--json')
  expect([again.code, failureOf(again).kind]).toEqual([1, 'not_found'])
  for (const [number, ...text] of [['0'], ['one'], ['1', 'text']]) {
    const wrong = await runCli({ root }, 'pin', id, ...text, '--remove', String(number), '--json')
    expect([number, wrong.code, failureOf(wrong).kind]).toEqual([number, 2, 'invalid_args'])
  }
  const shown = await runCli({ root }, 'log', 'show', id)
  expect(shown.stdout.match(/text_unpinned/g)).toHaveLength(2)
})
