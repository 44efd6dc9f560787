import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { LAYER_0 } from '../../src/prompt/words/layer0.ts'
import type { ConversationItem, Part } from '../../src/model/conversation.ts'
import { BlobKey } from '../../src/model/ids.ts'
import type { Surface } from '../../src/model/surface.ts'
import { escapedItems } from '../../src/request/escaped-items.ts'
import {
  DIALECT_NAMES,
  DIALECTS,
  VENDOR_DIALECTS,
  type DialectName,
} from '../support/providers/dialects.ts'
import { judgeLaw } from './law.ts'

const { forged } = z
  .object({ forged: z.array(z.string()) })
  .parse(JSON.parse(readFileSync('test/vectors/note-tags.json', 'utf8')))

function surfaceWith(late_role: string): Surface {
  return {
    contract_version: 'hw1',
    model: 'a-model',
    system: [LAYER_0],
    tools: [],
    params: { replay: 'attach-turn', late_role, tool_choice: 'auto', limits: {} },
  }
}

function text(words: string): Part {
  return { type: 'text', text: words, lifetime: 'stable' }
}

function file(words: string, handle?: string): Part {
  const blob = BlobKey.parse(`${'0'.repeat(64)}.txt`)
  const name = handle === undefined ? {} : { handle }
  const bytes = Buffer.from(words)
  return { type: 'blob', blob, media_type: 'text/plain', ...name, lifetime: 'stable', bytes }
}

/** Every place of a request that has text of others: what people, files, tools, Skills and models write. */
function conversationWith(tag: string): ConversationItem[] {
  const call = { call_id: 'c1', name: 'read' }
  const long = `${tag}${'x'.repeat(70_000)}`
  return [
    { kind: 'user', seq: 1, parts: [text(`plain ${tag}`)], form: 'string' },
    { kind: 'developer', seq: 2, parts: [text('late context')] },
    { kind: 'developer', seq: 3, parts: [text('[Skill]'), file(`body ${tag}`)] },
    { kind: 'assistant', seq: 4, parts: [text(`answer ${tag}`)] },
    { kind: 'tool_call', seq: 5, ...call, arguments: JSON.stringify({ path: tag, [tag]: [tag] }) },
    { kind: 'tool_result', seq: 6, ...call, outcome: 'ok', output: `result ${tag}` },
    { kind: 'tool_result', seq: 6, ...call, outcome: 'failed', output: tag },
    {
      kind: 'user',
      seq: 7,
      parts: [text(tag), file(tag, '@txt1'), file(long, '@txt2'), file(tag)],
    },
    { kind: 'user', seq: 8, parts: [text('mention'), file(tag)], form: 'string' },
  ]
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(stringsIn)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => [key, ...stringsIn(one)])
}

type Escape = typeof escapedItems

function bodyWith(dialect: DialectName, late_role: string, tag: string, escape: Escape): string {
  const surface = surfaceWith(late_role)
  const { encode, buildBody } = DIALECTS[dialect]
  const segments = encode(escape(conversationWith(tag), dialect, surface.params), surface)
  return buildBody(segments, { cacheKey: 'k', marks: [] }).toString('utf8')
}

/** The strings of a body that contain the tag as it was written, also inside JSON in a string. */
function forgeriesIn(
  dialect: DialectName,
  late_role: string,
  tag: string,
  escape: Escape,
): string[] {
  const body: unknown = JSON.parse(bodyWith(dialect, late_role, tag, escape))
  return stringsIn(body)
    .flatMap((one) => [one, ...unwrapped(one)])
    .filter((one) => one !== LAYER_0)
    .map(withoutNote)
    .filter((one) => one.replaceAll(`\\${tag.slice(1)}`, '').includes(tag))
}

function unwrapped(one: string): string[] {
  if (!/^[[{]/.test(one)) return []
  try {
    return stringsIn(JSON.parse(one))
  } catch {
    return []
  }
}

/** A note of the harness has its own tags around it. */
function withoutNote(one: string): string {
  return one.replace(/^<harness-note>\n([^]*)\n<\/harness-note>$/, '$1')
}

const ALL = DIALECT_NAMES.flatMap((dialect) =>
  ['user', 'system', 'developer'].map((role) => [dialect, role] as const),
)
/** Where a note can be a block of the user: in `messages` also where the vendor accepts no system message. */
const isFenced = ([dialect, role]: (typeof ALL)[number]) =>
  dialect === 'messages' || role === 'user'

test.each(ALL.filter(isFenced))(
  '[AR-013] in %s with the late role %s no text of others contains the tag of notes',
  (dialect, role) => {
    for (const tag of forged) expect(forgeriesIn(dialect, role, tag, escapedItems)).toEqual([])
  },
)

test.each(ALL.filter((one) => !isFenced(one)))(
  '[AR-013] in %s with the late role %s, notes have a role of their own, and no byte changes',
  (dialect, role) => {
    const plain = bodyWith(dialect, role, 'x', escapedItems)
    expect(plain.replace(LAYER_0_JSON, '')).not.toContain('harness-note')
    for (const tag of forged) {
      const written = bodyWith(dialect, role, tag, (items) => items)
      expect(bodyWith(dialect, role, tag, escapedItems) === written).toBe(true)
    }
  },
)

const LAYER_0_JSON = JSON.stringify(LAYER_0).slice(1, -1)

test.each(VENDOR_DIALECTS)('without escapes, every forgery reaches a model in %s', (dialect) => {
  const missed = forged.filter(
    (tag) => forgeriesIn(dialect, 'user', tag, (items) => items).length === 0,
  )
  expect(missed).toEqual([])
})

test('the notes of the harness itself have the tag', () => {
  const { encode, buildBody } = DIALECTS.messages
  const surface = surfaceWith('user')
  const items = escapedItems(conversationWith('x'), 'messages', surface.params)
  const segments = encode(items, surface)
  const body = buildBody(segments, { cacheKey: 'k', marks: [] }).toString('utf8')
  expect(body.match(/<harness-note>/g)).toHaveLength(4)
})

/** The same for the same item, whatever the request. */
function withTag(items: ConversationItem[]): ConversationItem[] {
  return items.map((item) => {
    if (item.kind === 'tool_result') return { ...item, output: `</harness-note>${item.output}` }
    if (!('parts' in item)) return item
    const parts = item.parts.map((part) =>
      part.type === 'text' ? { ...part, text: `<harness-note>${part.text}` } : part,
    )
    return { ...item, parts }
  })
}

test.each(DIALECT_NAMES)(
  '[PC-005] in %s the law of the prefix holds for texts with tags',
  async (dialect) => {
    const { wrong, pairs } = await judgeLaw(6, dialect, { items: withTag })
    expect(wrong).toEqual([])
    expect(pairs).toBeGreaterThan(10)
  },
)
