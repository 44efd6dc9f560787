import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SAMPLES } from '../../../test/support/history/every-event-data.ts'
import { harnessPlace } from '../../../test/support/session/harness-place.ts'
import { sampleDescriptor } from '../../../test/support/history/sample-resources.ts'
import { sessionStarted, value } from '../../../test/support/log/story.ts'
import { createLog } from '../../log/open.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import type { EventDraft } from '../../model/events/event.ts'
import { sessionFold } from '../live/state.ts'
import { searchLog, type Match, type SearchOptions } from './search.ts'

const KEY = 'sk-0123456789abcdef'

/** Writes a Log and searches it repeatedly. `keep` stores a blob, `path` is where it is. */
async function logPlace() {
  const { parts, workspace } = await harnessPlace({ log: { secrets: [KEY] } })
  const { place, store } = parts.log
  const session = place.ids.session()
  const turn = () => place.ids.turn()
  const keep = async (text: string | Buffer, type = 'text/plain') =>
    value(await store.put([Buffer.from(text)], type))
  const path = (blob: string) => join(workspace, '.hawser', 'blobs', blob)
  const write = async (events: readonly EventDraft[]) => {
    const spill = (bytes: Buffer, type: string) => store.put([bytes], type)
    const drafts = [sessionStarted, ...events]
    const log = await createLog(place, session, drafts, { fold: sessionFold, keep: spill })
    await value(log).release()
  }
  const search = async (
    pattern: RegExp,
    options: Partial<SearchOptions> = {},
    clock?: () => number,
  ) => {
    const found: Match[] = []
    const all = { pattern, budgetMs: 60_000, limit: 1000, ...options }
    const timed =
      clock === undefined ? place : { ...place, clock: { ...place.clock, monotonicMs: clock } }
    const end = await searchLog({ ...parts.log, place: timed }, session, all, (match) => {
      found.push(match)
    })
    return { end, found }
  }
  return { keep, path, write, search, turn }
}

const message = (text: string, resources: readonly Descriptor[] = []): EventDraft => ({
  type: 'user_message',
  data: { text, resources, prompt_mode: 'string' },
})
const answered = (text: string): EventDraft => ({ type: 'assistant_message', data: { text } })
const result = (output: string, more: object = {}): EventDraft => ({
  type: 'tool_result',
  data: { call_id: 'c', name: 'bash', outcome: 'ok', output, duration_ms: 1, ...more },
})
const started: EventDraft = { type: 'turn_started', data: { source: { presenter: 'cli' } } }

const places = (found: readonly Match[]) =>
  found.map(({ turn, seq, field, text }) => [turn, seq, field, text])

/** Three Turns, and a pinned text between the last two. Their Events are 1 to 2, 3 to 4, 5, and 6 to 7. */
async function threeTurns() {
  const place = await logPlace()
  const turns = [place.turn(), place.turn(), place.turn()]
  const inTurn = (at: number, draft: EventDraft): EventDraft => ({
    ...draft,
    turn_id: turns[at] ?? place.turn(),
  })
  await place.write([
    inTurn(0, started),
    inTurn(0, message('one rope\ntwo rope')),
    inTurn(1, started),
    inTurn(1, answered('a rope')),
    { type: 'text_pinned', data: { text: 'keep the rope', by: 'person' } },
    inTurn(2, started),
    inTurn(2, message('no more rope')),
  ])
  return place
}

test('every match names its Turn, in Log order', async () => {
  const { search } = await threeTurns()
  const { found } = await search(/rope/)
  expect(places(found)).toEqual([
    [1, 2, 'text', 'one rope'],
    [1, 2, 'text', 'two rope'],
    [2, 4, 'text', 'a rope'],
    [undefined, 5, 'text', 'keep the rope'],
    [3, 7, 'text', 'no more rope'],
  ])
})

test('for a model the newest Event is first, with the same Turns', async () => {
  const { search } = await threeTurns()
  const forModel = { turns: 3, tool: 'history_search' }
  const { found } = await search(/rope/, { forModel })
  expect(places(found)).toEqual([
    [3, 7, 'text', 'no more rope'],
    [undefined, 5, 'text', 'keep the rope'],
    [2, 4, 'text', 'a rope'],
    [1, 2, 'text', 'one rope'],
    [1, 2, 'text', 'two rope'],
  ])
  const some = await search(/rope/, { forModel, limit: 2 })
  expect(some.found).toEqual(found.slice(0, 2))
})

test('one Turn or one Event can be searched, in both directions', async () => {
  const { search } = await threeTurns()
  for (const order of [{}, { forModel: { turns: 3, tool: 'x' } }]) {
    expect(places((await search(/rope/, { turn: 2, ...order })).found)).toEqual([
      [2, 4, 'text', 'a rope'],
    ])
    expect(places((await search(/rope/, { seq: 5, ...order })).found)).toEqual([
      [undefined, 5, 'text', 'keep the rope'],
    ])
  }
})

test('calls and results of the searching tool are not found by a model, but by a person', async () => {
  const { write, search } = await logPlace()
  const data = { call_id: 'c', name: 'history_search', arguments: '{"query":"rope"}' }
  await write([
    { type: 'tool_call', data },
    result('Turn 1: rope', { name: 'history_search' }),
    result('rope'),
  ])
  expect((await search(/rope/)).found.map(({ seq }) => seq)).toEqual([1, 2, 3])
  const { found } = await search(/rope/, { forModel: { turns: 0, tool: 'history_search' } })
  expect(found.map(({ seq, tool }) => [seq, tool])).toEqual([[3, 'bash']])
})

test('summaries of checkpoints and hydrated context are searched; reasoning and notices are not', async () => {
  const { write, search } = await logPlace()
  const { history_compaction, skill_context_hydration } = SAMPLES
  await write([
    { type: 'history_compaction', data: { ...history_compaction, summary: 'They tied a rope.' } },
    { type: 'skill_context_hydration', data: { ...skill_context_hydration, output: 'rope: 3 m' } },
    { type: 'notice', data: { code: 'rope', text: 'rope' } },
    { type: 'reasoning', data: { dialect: 'rehearsal', model: 'm', item: { text: 'rope' } } },
  ])
  expect(places((await search(/rope/)).found)).toEqual([
    [undefined, 1, 'summary', 'They tied a rope.'],
    [undefined, 2, 'output', 'rope: 3 m'],
  ])
})

test('the whole of a truncated output is searched, and a line that is also in the output is found once', async () => {
  const { keep, write, search } = await logPlace()
  const whole = `first rope\n${'x\n'.repeat(300_000)}middle rope\n${'y'.repeat(600_000)}\nlast rope\n`
  const whole_blob = await keep(whole)
  await write([
    result('first rope\n[…]\nlast rope\n[exit code 0]\n', { truncated: true, whole_blob }),
    result('again', { truncated: true, whole_blob }),
  ])
  const { found, end } = await search(/rope|exit code/)
  expect(places(found)).toEqual([
    [undefined, 1, 'output', 'first rope'],
    [undefined, 1, 'output', 'last rope'],
    [undefined, 1, 'output', '[exit code 0]'],
    [undefined, 1, 'whole', 'middle rope'],
  ])
  expect(end).toMatchObject({ ok: true, value: { unread: [] } })
})

/** A text Resource with this content. */
async function textResource(
  { keep }: Pick<Awaited<ReturnType<typeof logPlace>>, 'keep'>,
  handle: string,
  content: string | Buffer,
  charset?: string,
): Promise<Descriptor> {
  const blob = await keep(content)
  const more = charset === undefined ? {} : { charset }
  const facts = { kind: 'text', media_type: 'text/plain', name: `${handle.slice(1)}.txt`, blob }
  return sampleDescriptor(handle, { ...facts, content_sha256: blob.slice(0, 64), ...more })
}

test('the content of text attachments is searched once, in its own charset', async () => {
  const place = await logPlace()
  const notes = await textResource(place, '@txt1', 'a rope\nof hemp')
  const same = await textResource(place, '@txt2', 'a rope\nof hemp')
  const latin = await textResource(
    place,
    '@txt3',
    Buffer.from('rope für alle', 'latin1'),
    'windows-1252',
  )
  await place.write([
    message('see', [notes]),
    { type: 'resource_ingested', data: { descriptor: same, origin: 'tool' } },
    message('and', [latin]),
  ])
  const { found } = await place.search(/rope/)
  expect(
    found.map(({ seq, field, text, resource }) => [seq, field, text, resource?.handle]),
  ).toEqual([
    [1, 'resources.0.content', 'a rope', '@txt1'],
    [3, 'resources.0.content', 'rope für alle', '@txt3'],
  ])
  const names = await place.search(/txt\d\.txt/)
  expect(names.found.map(({ seq }) => seq)).toEqual([1, 2, 3])
})

test('dropped and quarantined attachments are not searched for a model, and are reported', async () => {
  const place = await logPlace()
  const [a, b, c] = await Promise.all(
    ['@txt1', '@txt2', '@txt3'].map((handle) => textResource(place, handle, `rope ${handle}`)),
  )
  if (a === undefined || b === undefined || c === undefined) throw new Error('no descriptors')
  await place.write([
    message('see', [a, b, c]),
    { type: 'resource_dropped', data: { resource_id: a.resource_id, by: 'person' } },
    {
      type: 'resource_quarantined',
      data: { resource_id: b.resource_id, dialect: 'messages', provider_error: { message: 'no' } },
    },
  ])
  expect((await place.search(/rope/)).found).toHaveLength(3)
  const { found, end } = await place.search(/rope/, { forModel: { turns: 0, tool: 'x' } })
  expect(found.map(({ resource }) => resource?.handle)).toEqual(['@txt3'])
  expect(value(end).unread).toEqual([
    { seq: 1, field: 'resources.0.content', why: 'dropped' },
    { seq: 1, field: 'resources.1.content', why: 'quarantined' },
  ])
})

test('a missing or damaged text is reported, and the rest is searched', async () => {
  const place = await logPlace()
  const damaged = await textResource(place, '@txt1', 'damaged rope')
  const odd = await textResource(place, '@txt2', 'odd rope', 'klingon')
  const whole_blob = await place.keep('whole rope')
  const long = 'z'.repeat(70_000)
  await place.write([
    message('see', [damaged, odd]),
    result('short', { truncated: true, whole_blob }),
    answered(`${long} rope`),
    answered('last rope'),
  ])
  if (damaged.kind === 'link') throw new Error('a link')
  await writeFile(place.path(damaged.blob), 'other rope')
  await rm(place.path(whole_blob))
  const spilled = await place.keep(`${long} rope`)
  await rm(place.path(spilled))
  const { found, end } = await place.search(/rope/)
  expect(found.map(({ text }) => text)).toEqual(['last rope'])
  expect(value(end).unread).toEqual([
    { seq: 1, field: 'resources.0.content', why: 'damaged' },
    { seq: 1, field: 'resources.1.content', why: 'damaged' },
    { seq: 2, field: 'whole', why: 'missing' },
    { seq: 3, field: 'text', why: 'missing' },
  ])
})

test('a key in a stored text is redacted, even across the pieces that are read', async () => {
  const place = await logPlace()
  // The store reads in pieces of 256 KiB.
  const before = 'x'.repeat(256 * 1024 - 10)
  const notes = await textResource(place, '@txt1', `${before}${KEY} rope ${KEY}`)
  await place.write([message('see', [notes])])
  const { found } = await place.search(/ rope /)
  expect(found).toHaveLength(1)
  expect(found[0]?.text.slice(-40)).toBe('xxx[redacted key] rope [redacted key]'.padStart(40, 'x'))
  expect((await place.search(/sk-0/)).found).toEqual([])
})

test('the search ends at its time limit, and reports where', async () => {
  const { search } = await threeTurns()
  let now = 0
  const slow = () => (now += 100)
  const { end } = await search(/rope/, { totalMs: 350, forModel: { turns: 3, tool: 'x' } }, slow)
  expect(value(end).gaveUp).toEqual({ seq: 4, turn: 2, why: 'timeout' })
})

test('an interrupted search fails', async () => {
  const { search } = await threeTurns()
  const { end, found } = await search(/rope/, { signal: AbortSignal.abort() })
  expect(end).toMatchObject({ ok: false, error: { kind: 'interrupted' } })
  expect(found).toEqual([])
})
