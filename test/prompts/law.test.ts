import { expect, test } from 'vitest'
import * as z from 'zod'
import { LATE_HEADING } from '../../src/prompt/words/notes.ts'
import { onlyGrew, predictBreak, type RequestInputs } from '../../src/request/predict.ts'
import { sharedPrefix } from '../../src/prompt/prefix.ts'
import { Conversation } from '../../src/history/conversation.ts'
import type { ConversationItem } from '../../src/model/conversation.ts'
import type { WholeEvent } from '../../src/model/events/event.ts'
import type { Segment } from '../../src/model/segment.ts'
import type { Surface } from '../../src/model/surface.ts'
import { DIALECT_NAMES, DIALECTS } from '../support/providers/dialects.ts'
import { random, type Random } from '../support/host/random.ts'
import { generatedRequests, type Mistake } from '../support/history/generated-requests.ts'
import { judgeLaw } from './law.ts'

test.each(DIALECT_NAMES)(
  '[PC-005] [PC-025] in %s a request begins with the whole previous one, or breaks where and why Events predict',
  async (dialect) => {
    const { wrong, pairs } = await judgeLaw(12, dialect)
    expect(wrong).toEqual([])
    expect(pairs).toBeGreaterThan(30)
  },
)

test.each(DIALECT_NAMES)(
  'in %s the law holds for Turns that only ask for a summary, whether a checkpoint follows or not',
  async (dialect) => {
    const { wrong, causes } = await judgeLaw(12, dialect, {}, true)
    expect(wrong).toEqual([])
    expect(causes['transient_retired']).toBeGreaterThan(12)
    expect(causes['checkpoint']).toBeGreaterThan(1)
  },
)

function rewritten(segment: Segment, text: string): Segment {
  const bytes = Buffer.from(text)
  return { ...segment, bytes, length: bytes.length }
}

/** A JSON object with its keys in the reverse order. */
function turnedAround(json: string): string {
  const read = z.record(z.string(), z.unknown()).parse(JSON.parse(json))
  return JSON.stringify(Object.fromEntries(Object.entries(read).toReversed()))
}

/** The path in the label of project instructions; none for any other item. */
function labelsOf(item: ConversationItem): string[] {
  if (item.kind !== 'developer' || item.between === true) return []
  return item.parts.slice(0, 1).flatMap((part) => {
    const label = part.type === 'text' ? /^\[Project instructions ("[^"]*")/.exec(part.text) : null
    return label === null ? [] : [label[1] ?? '']
  })
}

/** A message without the commands that it shows. */
function withoutCommands(text: string): string {
  return text.replaceAll(
    /\[Before this message the person ran [^]*?\[End of the output\]/g,
    '[commands]',
  )
}

const MISTAKES: Record<string, Mistake> = {
  'a date in Layer 0': {
    segments: (segments, events) =>
      segments.map((segment) =>
        segment.role === 'system'
          ? rewritten(segment, segment.bytes.toString('utf8').replace(' ', ` ${events.length} `))
          : segment,
      ),
  },
  'tool keys in any order': {
    segments: (segments, events) =>
      segments.map((segment) =>
        segment.role === 'tool' && events.length % 2 === 0
          ? rewritten(segment, turnedAround(segment.bytes.toString('utf8')))
          : segment,
      ),
  },
  'a descriptor that is replaced when its bytes are retired': {
    items: (items) =>
      items.map((item) => {
        if (item.kind !== 'user' || item.parts.some(({ type }) => type === 'blob')) return item
        const parts = item.parts.map((part) =>
          part.type === 'text' && part.text.startsWith('[@img')
            ? { ...part, text: part.text.replace('[@img', '[retired @img') }
            : part,
        )
        return { ...item, parts }
      }),
  },
  'results in the order they came': {
    items: (items) => {
      const results = items
        .filter(({ kind }) => kind === 'tool_result')
        .toSorted((a, b) => a.seq - b.seq)
      return items.map((item) => (item.kind === 'tool_result' ? (results.shift() ?? item) : item))
    },
  },
  'project instructions that replace their earlier text where it was': {
    items: (items) => {
      const last = new Map(items.flatMap((item) => labelsOf(item).map((label) => [label, item])))
      return items.map((item) => {
        const newest = labelsOf(item).map((label) => last.get(label))[0]
        return newest === undefined ? item : { ...newest, seq: item.seq }
      })
    },
  },
  'a mention with the content that is on disk now': {
    items: (items, events) =>
      items.map((item) => {
        if (item.kind !== 'user') return item
        const parts = item.parts.map((part) =>
          part.type === 'blob' && part.resource === undefined && part.bytes !== undefined
            ? { ...part, bytes: Buffer.alloc(part.bytes.length, `${events.length}`) }
            : part,
        )
        return { ...item, parts }
      }),
  },
  'a command of the person that only the newest message shows': {
    items: (items) => {
      const newest = items.findLast(({ kind }) => kind === 'user')
      return items.map((item) => {
        if (item.kind !== 'user' || item === newest) return item
        const parts = item.parts.map((part) =>
          part.type === 'text' ? { ...part, text: withoutCommands(part.text) } : part,
        )
        return { ...item, parts }
      })
    },
  },
  'late context that moves to the end': {
    items: (items) => {
      const late = items.findLast(
        (item) =>
          item.kind === 'developer' &&
          item.parts.some((p) => p.type === 'text' && p.text.startsWith(LATE_HEADING)),
      )
      return late === undefined ? items : [...items.filter((item) => item !== late), late]
    },
  },
}

/** Members of a body that have a role. */
const Roles = z.array(z.looseObject({ role: z.string().optional() }))

/** Gives a person's message another role as soon as something follows it. */
function flipped(body: Buffer): Buffer {
  const read = z.record(z.string(), z.unknown()).parse(JSON.parse(body.toString('utf8')))
  const name = ['messages', 'input', 'segments'].find((list) => list in read) ?? ''
  const members = Roles.parse(read[name])
  const roles = members.map((one, at) =>
    one.role === 'user' && at < members.length - 1 ? { ...one, role: 'system' } : one,
  )
  return Buffer.from(JSON.stringify({ ...read, [name]: roles }))
}

/** Gives the last segment another bracket than it has once something follows it. */
function loose(segments: Segment[]): Segment[] {
  return segments.map((one, at) => {
    const bracket = Buffer.concat([one.bracket, Buffer.from(' ')])
    return at === segments.length - 1 ? { ...one, bytes: one.bytes, bracket } : one
  })
}

const BRACKET_MISTAKES: Record<string, Mistake> = {
  'a role in the body that changes when something follows': { body: flipped },
  'a bracket that changes when something follows': { segments: loose },
}

const PLANTED = DIALECT_NAMES.flatMap((dialect) =>
  Object.entries({ ...MISTAKES, ...BRACKET_MISTAKES }).map(([name, mistake]) => ({
    dialect,
    name,
    mistake,
  })),
)

test.each(PLANTED)('in $dialect the Law catches $name', async ({ dialect, mistake }) => {
  // Most mistakes show in a few Sessions.
  for (const sessions of [3, 25]) {
    if ((await judgeLaw(sessions, dialect, mistake)).wrong.length > 0) return
  }
  expect.unreachable('the mistake was not noticed')
})

/** The input of a request of any Turn at any position of a Log, and the segments of that request. */
function anyRequest(surface: Surface, turn: RequestInputs['turn'], events: readonly WholeEvent[]) {
  const { encode } = DIALECTS.rehearsal
  const segments = encode(
    new Conversation(events, { turn, replay: surface.params.replay }).items(),
    surface,
  )
  const surfaceSegments = encode([], surface)
  return { inputs: { dialect: 'rehearsal', surface, surfaceSegments, events, turn }, segments }
}

/** A refused Turn was never sent, whatever was sent before it ended. */
function refusedAtTimes(event: WholeEvent, chance: Random): WholeEvent {
  if (event.type !== 'turn_ended' || chance.below(6) > 0) return event
  return { ...event, data: { ...event.data, status: 'refused' } }
}

test('a request that only grew is computed from its new Events alone, with the same result as from all Events', async () => {
  const wrong: string[] = []
  const steps = { grown: 0, broken: 0, neither: 0 }
  for (let seed = 1; seed <= 60; seed++) {
    const last = (await generatedRequests(seed)).at(-1)
    if (last === undefined) continue
    const chance = random(seed)
    const events = last.inputs.events.map((event) => refusedAtTimes(event, chance))
    const turns = [...new Set(events.map(({ turn_id }) => turn_id))]
    // At the position of a request, every call has its result.
    const places = events.flatMap(({ type }, at) => (type === 'provider_request' ? [at] : []))
    for (let pick = 0; pick < 40; pick++) {
      const at = chance.below(places.length - 1)
      const to = Math.min(at + 1 + chance.below(3), places.length - 1)
      const own = events[places[at] ?? 0]?.turn_id
      const turn = chance.below(2) === 0 ? own : turns[chance.below(turns.length)]
      const later = chance.below(6) > 0 ? turn : turns[chance.below(turns.length)]
      const { surface } = last.inputs
      const other = chance.below(12) > 0 ? surface : { ...surface, system: ['another'] }
      const before = anyRequest(surface, turn, events.slice(0, places[at]))
      const next = anyRequest(other, later, events.slice(0, places[to]))
      const grown = onlyGrew(before.inputs, next.inputs)
      const long = predictBreak(before.inputs, before.segments, next.inputs)
      const { whole } = sharedPrefix(before.segments, next.segments)
      if (grown && (long !== undefined || !whole)) wrong.push(`seed ${seed}: ${long?.cause}`)
      steps[grown ? 'grown' : long === undefined ? 'neither' : 'broken'] += 1
    }
  }
  expect(wrong).toEqual([])
  expect(Object.values(steps).filter((count) => count < 100)).toEqual([])
})
