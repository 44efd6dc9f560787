import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { LAYER_0 } from '../../../src/prompt/words/layer0.ts'
import { CONTRACT_VERSION, WORDS_SHA256 } from '../../../src/prompt/words/version.ts'
import type { ConversationItem } from '../../../src/model/conversation.ts'
import { ok } from '../../../src/model/errors.ts'
import type { EventDraft, WholeEvent } from '../../../src/model/events/event.ts'
import { Output as Verified } from '../../../src/presenters/cli/commands/log/verify.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import type { Session } from '../../../src/session/session.ts'
import { runCli } from '../../support/cli/cli.ts'
import type { Changes } from '../../support/session/harness-parts.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { commandPlace, logPath, writeLog } from '../../support/session/write-log.ts'

const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const
const OTHER_WORDS = 'ab'.repeat(32)
const TWO_OTHERS = {
  not_comparable: 2,
  other_words: [{ contract_version: CONTRACT_VERSION, words_sha256: OTHER_WORDS, requests: 2 }],
} as const

/** Another version of this program, with other texts for late context, recorded as such. */
function otherVersion(): Changes {
  const ours = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const theirs: typeof ours = {
    ...ours,
    encode: (items, surface, behind) => ours.encode(items.map(withOtherTexts), surface, behind),
  }
  return {
    model: {
      contract: { version: CONTRACT_VERSION, layer0: LAYER_0, words_sha256: OTHER_WORDS },
      providerOf: async () => ok(theirs),
      dialectOf: async () => ok(theirs),
    },
  }
}

function withOtherTexts(item: ConversationItem): ConversationItem {
  if (item.kind !== 'developer') return item
  const parts = item.parts.map((part) =>
    part.type === 'text'
      ? { ...part, text: `Facts, as another version says them. ${part.text}` }
      : part,
  )
  return { ...item, parts }
}

async function say(session: Session, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const { done } = value(await session.admit(text))
    expect(value(await done).status).toBe('completed')
  }
}

function requestsOf(events: readonly WholeEvent[]) {
  return events.flatMap((event) => (event.type === 'provider_request' ? [event.data] : []))
}

function breaksOf(events: readonly WholeEvent[]): (string | undefined)[] {
  return requestsOf(events).map(({ prefix_break }) => prefix_break?.cause)
}

function surfacesOf(events: readonly WholeEvent[]) {
  return events.flatMap((event) => (event.type === 'prompt_surface' ? [event.data] : []))
}

/** A Session of two Turns that the other version wrote, each with one call. */
async function writtenElsewhere(root?: string) {
  const earlier = await harnessPlace(otherVersion(), root)
  const session = value(await earlier.harness.create(REHEARSAL))
  await say(session, 'What did it say?', 'What did it say?')
  await session.close()
  return { ...earlier, id: session.id, events: session.events }
}

test('[PC-014] a Session of another version continues with exactly one break, caused by the surface', async () => {
  const earlier = await writtenElsewhere()
  const log = await readFile(logPath(earlier.root, earlier.id))
  expect(breaksOf(earlier.events)).toEqual([undefined, undefined])
  const place = await harnessPlace({}, earlier.root)
  const session = value(await place.harness.open(earlier.id))
  await say(session, 'What did it say?', 'What did it say?')
  await session.close()
  const later = value(await (await harnessPlace({}, earlier.root)).harness.open(earlier.id))
  await say(later, 'What did it say?')
  expect(breaksOf(later.events)).toEqual([undefined, undefined, 'surface', undefined, undefined])
  // The frozen surface is shared; what else is shared is unknown.
  const [, , broken] = requestsOf(later.events)
  const { segments } = value(await later.preview('And now?'))
  const frozen = segments.filter(({ role }) => ['params', 'tool', 'system'].includes(role))
  const bytes = frozen.reduce((sum, { bracket, length }) => sum + bracket.length + length, 0)
  expect([broken?.shared_prefix_bytes, broken?.prefix_break?.at]).toEqual([bytes, bytes])
  const written = await readFile(logPath(earlier.root, earlier.id))
  expect(written.subarray(0, log.length).equals(log)).toBe(true)
})

test('the new prompt texts are recorded once, with the frozen surface', async () => {
  const earlier = await writtenElsewhere()
  const place = await harnessPlace({ tools: { schemas: [] } }, earlier.root)
  const session = value(await place.harness.open(earlier.id))
  expect(session.events.length).toBe(earlier.events.length)
  await say(session, 'What did it say?', 'What did it say?')
  const [first, ...more] = surfacesOf(session.events)
  expect(first).toMatchObject({ words_sha256: OTHER_WORDS, reason: 'session_start' })
  expect(more).toEqual([{ ...first, words_sha256: WORDS_SHA256, reason: 'reload' }])
  const next = session.events[earlier.events.length]
  expect([next?.type, next?.turn_id]).toEqual(['prompt_surface', undefined])
})

test('requests with other prompt texts are counted as not comparable, and later ones are verified', async () => {
  const earlier = await writtenElsewhere()
  const place = await harnessPlace({}, earlier.root)
  const proof = async () => value(await place.harness.verify(earlier.id, { requests: true }))
  const { log, requests } = await proof()
  expect(log).not.toHaveProperty('damage')
  expect(requests).toEqual({ requests: 0, ...TWO_OTHERS, mismatches: [] })
  const session = value(await place.harness.open(earlier.id))
  await say(session, 'What did it say?', 'What did it say?')
  expect((await proof()).requests).toEqual({ requests: 2, ...TWO_OTHERS, mismatches: [] })
  // The other version cannot verify the requests of this one either.
  const back = value(await earlier.harness.verify(earlier.id, { requests: true }))
  const ours = { contract_version: CONTRACT_VERSION, words_sha256: WORDS_SHA256, requests: 2 }
  const others = { not_comparable: 2, other_words: [ours] }
  expect(back.requests).toEqual({ requests: 2, ...others, mismatches: [] })
})

test('a Session of a version that recorded no prompt texts continues like one with other texts', async () => {
  const earlier = await writtenElsewhere()
  const drafts = earlier.events.map(({ type, data, turn_id }) => {
    const draft = { type, data: { ...data }, turn_id }
    if ('words_sha256' in draft.data) delete draft.data.words_sha256
    return draft as EventDraft
  })
  const id = await writeLog(earlier.root, drafts)
  const place = await harnessPlace({}, earlier.root)
  const session = value(await place.harness.open(id))
  expect(surfacesOf(session.events)[0]).not.toHaveProperty('words_sha256')
  await say(session, 'What did it say?', 'What did it say?')
  expect(breaksOf(session.events)).toEqual([undefined, undefined, 'surface', undefined])
  const { requests } = value(await place.harness.verify(id, { requests: true }))
  const other_words = [{ contract_version: CONTRACT_VERSION, requests: 2 }]
  expect(requests).toEqual({ requests: 2, not_comparable: 2, other_words, mismatches: [] })
})

test('a change of prompt texts and model at once is one break, caused by the model', async () => {
  const earlier = await writtenElsewhere()
  const place = await harnessPlace({}, earlier.root)
  const session = value(await place.harness.open(earlier.id))
  value(await session.change({ model: { ...REHEARSAL, model: 'rehearsal-2' } }))
  await say(session, 'What did it say?', 'What did it say?')
  expect(breaksOf(session.events)).toEqual([undefined, undefined, 'model', undefined])
  expect(surfacesOf(session.events).map(({ words_sha256 }) => words_sha256)).toEqual([
    OTHER_WORDS,
    WORDS_SHA256,
  ])
})

test('log verify names the version of requests that it cannot compare, and claims nothing about them', async () => {
  const { root } = await commandPlace()
  const { id } = await writtenElsewhere(root)
  const words = await runCli({ root }, 'log', 'verify', id, '--requests')
  expect([words.code, words.stderr]).toEqual([0, ''])
  expect(words.stdout).toMatch(/^2 requests not comparable: words of version hw1 \(abababababab\)/m)
  expect(words.stdout).not.toContain('identical')
  const json = await runCli({ root }, 'log', 'verify', id, '--requests', '--json')
  expect([json.code, Verified.parse(JSON.parse(json.stdout))]).toMatchObject([
    0,
    { whole: true, requests: { checked: 0, outcome: 'not_comparable', ...TWO_OTHERS } },
  ])
})

test('log verify tells requests of several versions apart', async () => {
  const { root } = await commandPlace()
  const { id } = await writtenElsewhere(root)
  const place = await harnessPlace({}, root)
  const session = value(await place.harness.open(id))
  await say(session, 'What did it say?')
  await session.close()
  const words = await runCli({ root }, 'log', 'verify', id, '--requests')
  expect(words.stdout).toMatch(/^1 request rebuilt, identical to the record\.$/m)
  expect(words.stdout).toMatch(/^2 requests not comparable: words of version hw1 \(abababababab\)/m)
  const json = await runCli({ root }, 'log', 'verify', id, '--requests', '--json')
  expect(Verified.parse(JSON.parse(json.stdout)).requests).toMatchObject({
    checked: 1,
    outcome: 'not_comparable',
  })
})
