import { expect, test } from 'vitest'
import { cacheMarks } from '../../src/prompt/cache-marks.ts'
import { freezeSurface } from '../../src/prompt/surface.ts'
import type { ConversationItem, ItemContent, Part } from '../../src/model/conversation.ts'
import { BlobKey } from '../../src/model/ids.ts'
import { LIMITS } from '../../src/model/limits.ts'
import type { Segment } from '../../src/model/segment.ts'
import type { SurfaceParams } from '../../src/model/surface.ts'
import { DIALECTS, VENDOR_DIALECTS } from '../support/providers/dialects.ts'
import { generatedRequests } from '../support/history/generated-requests.ts'
import { requestErrors, type VendorDialect } from '../support/providers/vendor-schemas.ts'

const CACHE_KEY = 'hw1:m_0:r_build:s_0:t_0:k_0'

/** Each dialect with a model of its catalogue. */
const PARAMS: Readonly<Record<VendorDialect, Partial<SurfaceParams>>> = {
  messages: { late_role: 'system', limits: { output_tokens: 32_000 }, effort: 'high' },
  responses: { late_role: 'developer', reasoning: true, effort: 'high' },
  chat: { late_role: 'developer', cache_key: true, files: true },
}

function surfaceOf(dialect: VendorDialect) {
  return freezeSurface({
    model: 'a-model',
    tools: [{ name: 'read', description: 'Reads a file.', parameters: { type: 'object' } }],
    skillsIndex: '',
    params: {
      replay: 'attach-turn',
      late_role: 'developer',
      tool_choice: 'auto',
      limits: {},
      ...PARAMS[dialect],
    },
  }).surface
}

function blob(media_type: string, handle: string, bytes: string): Part {
  const key = BlobKey.parse(`${'0'.repeat(64)}.bin`)
  return {
    type: 'blob',
    blob: key,
    media_type,
    handle,
    lifetime: 'turn',
    bytes: Buffer.from(bytes),
  }
}

function skillBody(bytes: string): Part {
  const key = BlobKey.parse(`${'0'.repeat(64)}.md`)
  const body = Buffer.from(bytes)
  return { type: 'blob', blob: key, media_type: 'text/markdown', lifetime: 'stable', bytes: body }
}

const text = (words: string): Part => ({ type: 'text', text: words, lifetime: 'stable' })
const base64 = (bytes: string) => Buffer.from(bytes).toString('base64')

const REASONED: Readonly<Record<VendorDialect, Record<string, unknown>>> = {
  messages: { type: 'thinking', thinking: 'a thought', signature: 'its seal' },
  responses: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'a sealed thought' },
  chat: { sealed: 'never sent' },
}

/** What a request must contain of an item, by name; nothing if the dialect cannot express it. */
type Shown = (dialect: VendorDialect) => string | undefined

/** Everything that a Conversation can contain, each with what a request must contain of it. */
const EVERYTHING: Readonly<
  Record<string, { say: (dialect: VendorDialect) => ItemContent; shown: Shown }>
> = {
  'a user message': {
    say: () => ({ kind: 'user', parts: [text('Look at these.')] }),
    shown: () => 'Look at these.',
  },
  'a descriptor': {
    say: () => ({ kind: 'user', parts: [text('[@img1: image, "a.png"]')] }),
    shown: () => '[@img1: image, \\"a.png\\"]',
  },
  'an image': {
    say: () => ({
      kind: 'user',
      parts: [text('pixels:'), blob('image/png', '@img1', 'the pixels')],
    }),
    shown: () => base64('the pixels'),
  },
  'a PDF': {
    say: () => ({
      kind: 'user',
      parts: [text('pages:'), blob('application/pdf', '@pdf2', 'the pages')],
    }),
    shown: () => base64('the pages'),
  },
  'a text file': {
    say: () => ({ kind: 'user', parts: [text('lines:'), blob('text/csv', '@txt3', 'a,b')] }),
    shown: () => 'a,b',
  },
  'a file of a type that no model accepts': {
    say: () => ({ kind: 'user', parts: [text('bytes:'), blob('audio/wav', '@file4', 'noise')] }),
    shown: () => '[@file4 is not shown: this model does not accept audio/wav.]',
  },
  'late context': {
    say: () => ({ kind: 'developer', parts: [text('workspace: "/w"')] }),
    shown: () => 'workspace: \\"/w\\"',
  },
  "a Skill's body": {
    say: () => ({
      kind: 'developer',
      parts: [text('[Skill]'), skillBody('# How to')],
    }),
    shown: () => '# How to',
  },
  reasoning: {
    say: (dialect) => ({ kind: 'reasoning', dialect, model: 'a-model', item: REASONED[dialect] }),
    shown: (dialect) =>
      ({ messages: 'its seal', responses: 'a sealed thought', chat: undefined })[dialect],
  },
  'an answer': {
    say: () => ({ kind: 'assistant', parts: [text('I will read it.')], phase: 'commentary' }),
    shown: () => 'I will read it.',
  },
  'a call': {
    say: () => ({
      kind: 'tool_call',
      call_id: 'call_1',
      name: 'read',
      arguments: '{"path":"a.txt"}',
    }),
    shown: (dialect) => (dialect === 'messages' ? '{"path":"a.txt"}' : '{\\"path\\":\\"a.txt\\"}'),
  },
  'a result': {
    say: () => ({
      kind: 'tool_result',
      call_id: 'call_1',
      name: 'read',
      outcome: 'ok',
      output: 'rope',
    }),
    shown: () => '"rope"',
  },
  'a refused call': {
    say: () => ({ kind: 'tool_call', call_id: 'call_2', name: 'write', arguments: '{}' }),
    shown: () => '"name":"write"',
  },
  'a refusal': {
    say: () => ({
      kind: 'tool_result',
      call_id: 'call_2',
      name: 'write',
      outcome: 'denied',
      output: 'No.',
    }),
    shown: () => '[outcome: denied]\\nNo.',
  },
  'a word to a running Turn': {
    say: () => ({ kind: 'user', parts: [text('Wait.')] }),
    shown: () => '"Wait."',
  },
}

function conversation(dialect: VendorDialect): ConversationItem[] {
  return Object.values(EVERYTHING).map(({ say }, seq) => ({ ...say(dialect), seq }))
}

function bodyOf(dialect: VendorDialect, drop: (segment: Segment) => boolean = () => false): Buffer {
  const { encode, buildBody } = DIALECTS[dialect]
  const surface = surfaceOf(dialect)
  const segments = encode(conversation(dialect), surface).filter((segment) => !drop(segment))
  const places = {
    surface: encode([], surface).length,
    transient: 6,
    sharedEnd: 10,
    end: segments.length,
  }
  return buildBody(segments, { cacheKey: CACHE_KEY, marks: cacheMarks(places) })
}

/** Items that are missing from a body. */
function missing(dialect: VendorDialect, body: Buffer): string[] {
  const found = body.toString('utf8')
  return Object.entries(EVERYTHING).flatMap(([name, { shown }]) => {
    const expected = shown(dialect)
    return expected === undefined || found.includes(expected) ? [] : [name]
  })
}

test.each(VENDOR_DIALECTS)(
  '[PC-003] [AT-061] [SR-041] [TI-075] [TI-076] [TI-077] the request of one Log in %s matches the golden file',
  async (dialect) => {
    const body = JSON.stringify(JSON.parse(bodyOf(dialect).toString('utf8')), null, 2)
    await expect(`${body}\n`).toMatchFileSnapshot(`golden/${dialect}.json`)
  },
)

test.each(VENDOR_DIALECTS)(
  'the raw bytes that a Turn may attach become about 24 MiB on the wire in %s [AT-007]',
  (dialect) => {
    const { encode, buildBody } = DIALECTS[dialect]
    const half = Buffer.alloc(LIMITS.turn_attachment_bytes / 2, 'a').toString('latin1')
    const parts = ['@pdf1', '@pdf2'].map((handle) => blob('application/pdf', handle, half))
    const segments = encode([{ kind: 'user', seq: 0, parts }], surfaceOf(dialect))
    const body = buildBody(segments, { cacheKey: CACHE_KEY, marks: [] })
    const MIB = 1024 * 1024
    expect([LIMITS.turn_attachment_bytes / MIB, Math.round(body.length / MIB)]).toEqual([18, 24])
    expect(body.length).toBeGreaterThanOrEqual(24 * MIB)
  },
)

test.each(VENDOR_DIALECTS)('%s omits nothing that a Conversation contains', (dialect) => {
  expect(missing(dialect, bodyOf(dialect))).toEqual([])
})

test.each(VENDOR_DIALECTS)('an item of any kind that is missing from %s is detected', (dialect) => {
  const unnoticed = Object.entries(EVERYTHING).flatMap(([name, { shown }], seq) => {
    if (shown(dialect) === undefined) return []
    const found = missing(
      dialect,
      bodyOf(dialect, (segment) => segment.seq === seq),
    )
    return found.includes(name) ? [] : [name]
  })
  expect(unnoticed).toEqual([])
})

test.each(VENDOR_DIALECTS)(
  'a request in %s is valid for the vendor, by the types of its SDK',
  async (dialect) => {
    const { buildBody } = DIALECTS[dialect]
    const wrong = requestErrors(dialect, JSON.parse(bodyOf(dialect).toString('utf8')))
    let count = 0
    for (let seed = 1; seed <= 40; seed++) {
      for (const { segments } of await generatedRequests(seed, { dialect })) {
        const marks = cacheMarks({
          surface: 3,
          transient: undefined,
          sharedEnd: 5,
          end: segments.length,
        })
        const body: unknown = JSON.parse(
          buildBody(segments, { cacheKey: CACHE_KEY, marks }).toString('utf8'),
        )
        wrong.push(...requestErrors(dialect, body).map((error) => `seed ${seed}: ${error}`))
        count += 1
      }
    }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThan(200)
  },
)
