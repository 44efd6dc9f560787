import { cp, rename, rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { FALLBACK_STRATEGY, MODEL_STRATEGY } from '../../../src/context/range-summary.ts'
import { NOT_WRITTEN, SUMMARY_INSTRUCTION } from '../../../src/prompt/words/summary.ts'
import type { EventData, WholeEvent } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import type { HarnessPlace } from '../../support/session/harness-place.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { value } from '../../support/log/story.ts'
import { sseOf, type VendorAnswer } from '../../support/providers/vendor-answer.ts'
import { vendorPlace } from '../../support/providers/vendor-place.ts'
import { scriptedServer, type ScriptedAnswer } from '../../support/providers/vendor-server.ts'

const GOOD = '## Goal\nMoor it.\n## Done\nNothing.\n## Findings\nIt floats.\n## Next\nMoor it.'

interface Open {
  readonly place: HarnessPlace & { readonly root: string }
  readonly session: Session
  /** Requests that asked for a summary. */
  readonly asked: () => number
}

/** A long Session with a server that answers the request for a summary with `answer`, and everything else with text. */
async function longSession(
  answer: (place: Open['place']) => ScriptedAnswer | Promise<ScriptedAnswer>,
): Promise<Open> {
  let asked = 0
  const server = await scriptedServer(({ bytes }) => {
    if (!bytes.includes('[Summary request')) return says({ text: 'I see.' })
    asked += 1
    return answer(place)
  })
  const place: Open['place'] = await vendorPlace(server)
  const session = value(await place.harness.create({ provider: 'messages', model: 'a-model' }))
  for (let turn = 1; turn <= 4; turn += 1)
    await say(session, `Harbour ${turn} is calm. `.repeat(200))
  return { place, session, asked: () => asked }
}

function says(answer: VendorAnswer): ScriptedAnswer {
  return { body: sseOf('messages', answer) }
}

async function say(session: Session, text: string): Promise<void> {
  const { done } = value(await session.admit(text))
  expect(value(await done).status).toBe('completed')
}

function dataOf<T extends WholeEvent['type']>({ events }: Session, type: T): EventData<T>[] {
  return events
    .filter((event): event is WholeEvent<T> => event.type === type)
    .map(({ data }) => data as EventData<T>)
}

/** The next request without its cache marks, which depend on the last request. */
async function nextSegments(session: Session): Promise<string[]> {
  const { segments } = value(await session.preview('What now?'))
  return segments.map(({ bytes }) => bytes.toString())
}

const CALL = { id: 'call_1', name: 'write', arguments: '{"path":"a.txt","content":"x"}' }

test.each<[string, ScriptedAnswer, string]>([
  ['a refusal', says({ text: 'No.', stop: 'refusal' }), 'refused'],
  ['an error of the provider', { status: 500, body: '{}' }, '{}'],
  ['a lost connection', 'cut', 'Connection lost'],
  ['a tool call', says({ text: GOOD, calls: [CALL] }), 'called tools'],
  ['an answer that was cut off', says({ text: GOOD, stop: 'max_tokens' }), 'cut off'],
  ['an answer that was paused', says({ text: GOOD, stop: 'pause_turn' }), 'paused'],
  ['an empty answer', says({ text: ' \n' }), 'empty'],
  ['a missing section', says({ text: GOOD.replace('## Findings', 'Findings') }), 'Findings'],
  ['an empty section', says({ text: GOOD.replace('It floats.', '') }), 'Findings'],
  ['a text that is too long', says({ text: GOOD + 'x'.repeat(8_192) }), 'bytes'],
])('after %s the summary consists of excerpts, and a notice says why', async (_, answer, why) => {
  const { place, session, asked } = await longSession(() => answer)
  const planned = value(await session.previewCompaction({ summary: 'model' })).plan
  const done = value(await session.compact({ summary: 'model' }))
  expect(done.fallback).toContain(why)
  expect(dataOf(session, 'notice').at(-1)).toEqual({
    code: 'summary_fallback',
    text: done.fallback,
  })
  const recorded = dataOf(session, 'history_compaction').at(-1)
  expect(recorded).toMatchObject({ strategy: FALLBACK_STRATEGY })
  expect(recorded?.limitations).toContain(NOT_WRITTEN)
  expect(planned.compactable && planned.data.summary).toBe(recorded?.summary)
  expect(asked()).toBe(1)
  await say(session, 'What now?')
  expect(dataOf(session, 'provider_request').at(-1)?.prefix_break?.cause).toBe('checkpoint')
  const { checkpoints } = value(await place.harness.verify(session.id, { requests: false }))
  expect(checkpoints).toEqual([])
  await verified(place, session)
})

test('an answer with all sections is used', async () => {
  const { place, session } = await longSession(() => says({ text: `${GOOD}\n` }))
  const done = value(await session.compact({ summary: 'model' }))
  expect(done).not.toHaveProperty('fallback')
  const recorded = dataOf(session, 'history_compaction').at(-1)
  expect(recorded?.strategy).toBe(MODEL_STRATEGY)
  expect(recorded?.summary).toBe(
    `[Summary written by the model, ${GOOD.length} bytes:]\n${GOOD}\n[End of summary]`,
  )
  await say(session, 'What now?')
  await verified(place, session)
})

test('an interrupted summary leaves no checkpoint, and the next request as it was', async () => {
  let interrupt = () => {}
  const { place, session } = await longSession(() => {
    interrupt()
    return new Promise<never>(() => {})
  })
  interrupt = () => session.interrupt()
  const before = await nextSegments(session)
  expect(await session.compact({ summary: 'model' })).toMatchObject({
    error: { kind: 'interrupted' },
  })
  expect(dataOf(session, 'history_compaction')).toEqual([])
  expect(dataOf(session, 'turn_ended').at(-1)?.status).toBe('interrupted')
  expect(await nextSegments(session)).toEqual(before)
  await say(session, 'What now?')
  expect(dataOf(session, 'provider_request').at(-1)?.prefix_break?.cause).toBe('transient_retired')
  await verified(place, session)
})

test('steering is refused while the model writes a summary', async () => {
  const steered: boolean[] = []
  let steer = () => {}
  const { session } = await longSession(() => {
    steer()
    return says({ text: GOOD })
  })
  steer = () => void steered.push(session.steer('Mind the tide.'))
  value(await session.compact({ summary: 'model' }))
  expect(steered).toEqual([false])
})

test.each(['while the model writes', 'before the checkpoint'])(
  'after a crash %s, the Session is as it was before the compaction',
  async (when) => {
    let copy = async (_root: string) => {}
    const { place, session } = await longSession(async ({ root }) => {
      await copy(root)
      return says({ text: GOOD })
    })
    const before = await nextSegments(session)
    const crashed = `${place.root}-crashed`
    const copyTo = (root: string) => cp(root, crashed, { recursive: true })
    if (when === 'while the model writes') copy = copyTo
    value(await session.between(({ ask }) => ask(SUMMARY_INSTRUCTION, 'summary')))
    if (when === 'before the checkpoint') await copyTo(place.root)
    await session.close()

    await rm(place.root, { recursive: true })
    await rename(crashed, place.root)
    const server = await scriptedServer(() => says({ text: 'I see.' }))
    const again = await vendorPlace(server, { root: place.root })
    const resumed = value(await again.harness.open(session.id))
    expect(await nextSegments(resumed)).toEqual(before)
    await say(resumed, 'What now?')
    expect(dataOf(resumed, 'turn_ended').at(-2)).toMatchObject(
      when === 'before the checkpoint'
        ? { status: 'completed' }
        : { status: 'interrupted', crash_recovered: true },
    )
    expect(dataOf(resumed, 'history_compaction')).toEqual([])
    const last = dataOf(resumed, 'provider_request').at(-1)
    expect(last?.prefix_break?.cause).toBe('transient_retired')
    await verified(again, resumed)
    value(await resumed.compact({ summary: 'excerpts' }))
    await say(resumed, 'And now?')
    await verified(again, resumed)
  },
)
