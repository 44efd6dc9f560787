import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { Output as Found } from '../../../src/presenters/cli/commands/grep.ts'
import type { Session } from '../../../src/session/session.ts'
import { runCli } from '../../support/cli/cli.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { sampleFile, say } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { commandPlace, writeLog } from '../../support/session/write-log.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const

/** The last result of the tool, with its outcome. */
function lastSearch({ events }: Session) {
  const result = events.findLast(
    (event) => event.type === 'tool_result' && event.data.name === 'history_search',
  )
  if (result?.type !== 'tool_result') throw new Error('there was no search')
  const { outcome, output, error } = result.data
  return { outcome, output, kind: error?.kind, lines: output.trimEnd().split('\n') }
}

/** The Events of a short Turn. */
function shortTurn(asked: string, answered: string): EventDraft[] {
  const turn_id = systemIds(systemClock).turn()
  const usage_total = {
    input: 1,
    cached_read: 0,
    cache_write: 0,
    output: 1,
    reasoning: 0,
    calls: 1,
  }
  return [
    { type: 'turn_started', turn_id, data: { source: { presenter: 'test' } } },
    { type: 'user_message', turn_id, data: { text: asked, prompt_mode: 'string' } },
    { type: 'assistant_message', turn_id, data: { text: answered } },
    { type: 'turn_ended', turn_id, data: { status: 'completed', usage_total } },
  ]
}

test('a fact of Turn 3 is found on Turn 1,000', async () => {
  const { root, harness } = await harnessPlace()
  const first = value(await harness.create(REHEARSAL))
  await say(first, 'Hello.')
  await first.close()
  const turns = Array.from({ length: 998 }, (_, at) =>
    at === 1
      ? shortTurn('The harbour code is 7421.', 'Noted.')
      : shortTurn(`How deep is buoy ${at + 2}?`, 'Deep.'),
  )
  await writeLog(root, turns.flat(), first.id)
  const session = value(await (await harnessPlace({}, root)).harness.open(first.id))
  expect(await say(session, 'Search the history for "HARBOUR code is"')).toBe('completed')
  expect(session.state.turns).toBe(1000)
  expect(lastSearch(session).lines).toEqual([
    expect.stringMatching(/^Turn 1000, Event \d+, model, text: I will search the history/),
    expect.stringMatching(/^Turn 1000, Event \d+, person, text: Search the history/),
    expect.stringMatching(/^Turn 3, Event \d+, person, text: The harbour code is 7421\.$/),
    '[3 matches, newest first.]',
  ])
  await say(session, 'Search turn 3 for the pattern `code is \\d+`')
  expect(lastSearch(session).lines).toHaveLength(2)
  await say(session, 'Search turn 4000 for "x"')
  expect(lastSearch(session)).toMatchObject({ outcome: 'failed', kind: 'invalid_args' })
  await session.close()
})

test('a search needs no permission, also in plan mode, and earlier searches are not found', async () => {
  const { harness } = await harnessPlace()
  const session = value(await harness.create({ ...REHEARSAL, mode: 'plan' }))
  await say(session, 'The tide is high.')
  await say(session, 'Search the history for "tide is"')
  expect(lastSearch(session).output).toContain('Turn 1, Event 3, person, text: The tide is high.')
  await say(session, 'Search the history for the pattern `tide i[s]`')
  const sources = lastSearch(session).lines.map(
    (line) => /^Turn \d+, Event \d+, (.+?), /.exec(line)?.[1],
  )
  // Calls and results of the first search contain the words, too.
  expect(new Set(sources.slice(0, -1))).toEqual(new Set(['person', 'model']))
  expect(session.events.filter(({ type }) => type === 'permission_decision')).toEqual([])
})

test('the whole of a truncated output is searched, and read in pages by its Event', async () => {
  const { root, workspace } = await commandPlace()
  const lines = Array.from({ length: 20_000 }, (_, at) => `depth ${at} fathoms`)
  await writeFile(join(workspace, 'depths.txt'), lines.join('\n'))
  const run = async (prompt: string, ...argv: string[]) => {
    const all = ['run', '--permission', 'auto', '--json', ...argv, prompt]
    const { code, stdout } = await runCli({ root }, ...all)
    expect(code).toBe(0)
    return stdout
  }
  await run('Run `cat depths.txt`')
  const { stdout } = await runCli({ root }, 'grep', 'depth 10000 fathoms', '--json')
  const { matches } = Found.parse(JSON.parse(stdout))
  const [{ session_id: session, seq } = { session_id: undefined, seq: -1 }] = matches
  if (session === undefined) throw new Error('nothing was found')
  expect(matches).toMatchObject([{ turn: 1, type: 'tool_result', field: 'whole' }])
  const found = await run('Search the history for "depth 10000 fathoms"', '--session', session)
  expect(found).toContain(`Turn 1, Event ${seq}, result of bash, whole: depth 10000 fathoms`)
  const page = await run(`Read Event ${seq} from character 100000`, '--session', session)
  expect(page).toContain(`characters 100,000 to`)
  const text = lines.join('\n')
  const { parts } = await harnessPlace({}, root)
  const read: string[] = []
  const { readEvent } = await import('../../../src/session/queries/model-history.ts')
  const signal = new AbortController().signal
  for (let offset = 0; offset < text.length; offset += 50_000) {
    const part = { offset, length: 50_000 }
    const got = value(await readEvent({ log: parts.log, session, turns: 3, signal }, seq, part))
    expect([got.turn, got.tool, got.characters]).toEqual([1, 'bash', text.length])
    read.push(got.text)
  }
  expect(read.join('')).toBe(text)
})

test('a pattern that takes practically forever ends, and the result says so', async () => {
  const { harness } = await harnessPlace()
  const session = value(await harness.create(REHEARSAL))
  await say(session, `Remember ${'a'.repeat(200)}b`)
  expect(await say(session, 'Search the history for the pattern `(a+)+$`')).toBe('completed')
  const { outcome, kind, output } = lastSearch(session)
  expect([outcome, kind]).toEqual(['failed', 'timeout'])
  expect(output).toContain('The search stopped in Turn 1 of 2 at its time limit')
})

test('a key that became known later is redacted in matches and in Events', async () => {
  const { root, harness } = await harnessPlace()
  const first = value(await harness.create(REHEARSAL))
  await say(first, 'The token is sk-0123456789abcdef today.')
  await first.close()
  const secrets = ['sk-0123456789abcdef']
  const session = value(
    await (await harnessPlace({ log: { secrets } }, root)).harness.open(first.id),
  )
  await say(session, 'Search the history for "token is"')
  expect(lastSearch(session).output).toContain('The token is [redacted key] today.')
  const [seq] = session.events.flatMap((e) => (e.type === 'user_message' ? [e.seq] : []))
  await say(session, `Read Event ${seq}`)
  expect(lastSearch(session).output).toContain('The token is [redacted key] today.')
  await say(session, 'Search the history for "sk-01"')
  expect(lastSearch(session).output).not.toContain('The token')
})

test.each([
  ['allow', 'content of @txt1: the tide table is wrong'],
  ['deny', 'Matches in @txt1 are not shown: sending them was not permitted.'],
] as const)('upload rules apply to the lines of attachments: %s', async (upload_text, expected) => {
  const place = await harnessPlace({ person: { upload: { upload_text } } })
  const notes = await sampleFile(place.workspace, 'n.txt', Buffer.from('the tide table is wrong\n'))
  const session = value(await place.harness.create(REHEARSAL))
  await say(session, 'Keep this.', { attachments: [notes.input] })
  await say(session, 'Search the history for "table is"')
  expect(lastSearch(session).output).toContain(expected)
  expect(lastSearch(session).output.includes('the tide table is wrong')).toBe(
    upload_text === 'allow',
  )
  await session.dropResource('@txt1')
  await say(session, 'Search the history for "tide table is wrong"')
  expect(lastSearch(session).output).toContain('it is not shown again: 1 attachment')
  expect(lastSearch(session).output).not.toMatch(/^Turn 1, .*content of @txt1/m)
})

test('a text that is lost is reported, to the model and to a person', async () => {
  const { root, workspace, harness } = await harnessPlace()
  const session = value(await harness.create(REHEARSAL))
  const notes = await sampleFile(workspace, 'n.txt', Buffer.from('the tide table\n'))
  await say(session, 'Keep this.', { attachments: [notes.input] })
  const [seq] = session.events.flatMap((e) => (e.type === 'user_message' ? [e.seq] : []))
  const [blob] = session.events.flatMap((e) =>
    e.type === 'user_message'
      ? (e.data.resources ?? []).map((one) => 'blob' in one && one.blob)
      : [],
  )
  await registerDamage(root, 'blobs', 'A payload is removed.')
  await rm(join(workspace, '.hawser', 'blobs', String(blob)))
  await say(session, 'Search the history for "tide table"')
  expect(lastSearch(session).output).toContain(`stored text is lost: Event ${seq}.`)
  await session.close()
  const run = await runCli({ root }, 'grep', 'no such words')
  expect([run.code, run.stderr]).toEqual([
    1,
    `hawser: Event ${seq} of ${session.id}: its resources.0.content is missing and was not searched.\n`,
  ])
})

test('an Event without text, or that does not exist, cannot be read', async () => {
  const { harness } = await harnessPlace()
  const session = value(await harness.create(REHEARSAL))
  await say(session, 'Hello.')
  for (const seq of [0, 999_999]) {
    await say(session, `Read Event ${seq}`)
    expect(lastSearch(session)).toMatchObject({ outcome: 'failed', kind: 'not_found' })
  }
})
