import { gzipSync } from 'node:zlib'
import { setImmediate as turn } from 'node:timers/promises'
import type { RecordedRequest, ScriptedAnswer } from '../../support/providers/vendor-server.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import {
  joined,
  withNumbersAsText,
  withValue,
  longAnswer,
  type Source,
} from './stream-noise-source.ts'

export interface Noise {
  readonly answer: (request: RecordedRequest) => ScriptedAnswer
  /** How the Turn may end, as its status and error kind; if absent, any way that is not a defect. */
  readonly ends?: readonly string[]
  /** How long the harness waits for an idle server. */
  readonly idleMs?: number
}

const KiB = 1024
const MiB = 1024 * KiB

const WHOLE = ['completed']
const UNREADABLE = ['failed invalid_response']
/** Each noise that needs it waits this long once; it is too short to affect the others. */
const SHORT_MS = 200

/** Every kind of noise. Each answers one request, with random choices. */
export const NOISES: Readonly<Record<string, (source: Source) => Noise>> = {
  flip: (source) => bytes(flipped(source)),
  insert: (source) => bytes(inserted(source)),
  delete: (source) => bytes(deleted(source)),
  duplicate: (source) => bytes(duplicated(source)),
  drop: ({ frames, chance }) => bytes(joined(frames.filter(() => chance.below(8) > 0))),
  swap: (source) => bytes(swapped(source)),
  shuffle: ({ frames, chance }) => bytes(joined(shuffled(frames, (n) => chance.below(n)))),
  twice: ({ bytes: whole }) => bytes(Buffer.concat([whole, whole])),
  cut: ({ bytes: whole, chance }) => ({
    answer: () => ({ body: whole, cutAfter: chance.below(whole.length) }),
  }),
  wrong_type: (source) => bytes(withValue(source, source.chance.pick(OTHER_VALUES))),
  numbers_as_text: (source) => bytes(withNumbersAsText(source)),
  deep: (source) => bytes(withValue(source, nested(source.chance.pick([100, 5_000, 100_000])))),
  half_characters: (source) => bytes(withValue(source, '"\\ud800 \\udfff\\ud83d"')),
  no_utf8: (source) => bytes(withoutUtf8(source)),
  line_ends: (source) => ({ ...bytes(withLineEnds(source)), ends: WHOLE }),
  unknown_events: (source) => ({ ...bytes(withUnknownEvents(source)), ends: WHOLE }),
  comments: (source) => ({ ...bytes(withComments(source)), ends: WHOLE }),
  tiny_chunks: (source) => ({ answer: () => ({ body: inPieces(source) }), ends: WHOLE }),
  dribble: (source) => ({ answer: () => ({ body: dribbled(source) }), ends: WHOLE }),
  tiny_events: ({ dialect, chance }) => ({
    answer: () => ({
      body: longAnswer({
        dialect,
        pieceBytes: 1,
        pieces: 5_000 + chance.below(15_000),
        ends: true,
      }),
    }),
    ends: WHOLE,
  }),
  long_text: ({ dialect, chance }) => ({
    ...bytes(sseOf(dialect, { text: 'wort '.repeat((1 + chance.below(5)) * 20 * KiB) })),
    ends: WHOLE,
  }),
  long_arguments: (source) => bytes(longCall(source)),
  many_calls: (source) => bytes(manyCalls(source)),
  huge_event: ({ dialect, chance }) => ({
    answer: () => ({ body: hugeEvent(dialect, chance.below(2) === 0) }),
    ends: UNREADABLE,
  }),
  huge_deltas: ({ dialect }) => ({
    answer: () => ({ body: longAnswer({ dialect, pieceBytes: 256 * KiB, pieces: 280 }) }),
    ends: UNREADABLE,
  }),
  huge_answer: ({ dialect }) => ({
    answer: () => ({ body: longAnswer({ dialect, pieceBytes: 200, pieces: 367_000 }) }),
    ends: UNREADABLE,
  }),
  crowded: (source) => bytes(crowded(source)),
  many_lines: () => ({
    ...bytes(Buffer.from(`${'data\n'.repeat(MiB / 2)}\n`)),
    ends: UNREADABLE,
  }),
  longest_text: ({ dialect }) => bytes(sseOf(dialect, { text: '船は港で'.repeat(240 * KiB) })),
  endless_line: () => ({
    answer: () => ({ body: forEver('x'.repeat(64 * KiB)) }),
    ends: UNREADABLE,
  }),
  endless_comments: () => ({
    answer: () => ({ body: forEver(': still there\n\n'.repeat(4 * KiB)) }),
    ends: UNREADABLE,
  }),
  idle: ({ bytes: whole, chance }) => ({
    answer: ({ hungUp }) => ({
      body: silentAfter(whole.subarray(0, chance.below(whole.length)), hungUp),
    }),
    ends: ['failed stream_idle'],
    idleMs: SHORT_MS,
  }),
  silent: () => ({
    answer: ({ hungUp }) => ({ body: silentAfter(Buffer.alloc(0), hungUp) }),
    ends: ['failed stream_idle'],
    idleMs: SHORT_MS,
  }),
  zipped: ({ bytes: whole, chance }) => {
    const headers = chance.pick<Record<string, string>>([{ 'content-encoding': 'gzip' }, {}])
    return { answer: () => ({ body: gzipSync(whole), headers }), ends: UNREADABLE }
  },
  content_type: ({ bytes: whole, chance }) => ({
    answer: () => ({ body: whole, headers: { 'content-type': chance.pick(OTHER_TYPES) } }),
    ends: UNREADABLE,
  }),
  page: ({ chance }) => {
    const headers = chance.pick<Record<string, string>>([{ 'content-type': 'text/html' }, {}])
    return { answer: () => ({ body: PAGE, headers }), ends: UNREADABLE }
  },
  error_as_answer: () => ({
    answer: () => ({
      headers: { 'content-type': 'application/json' },
      body: '{"error":{"type":"overloaded_error","message":"Too much going on."}}',
    }),
  }),
  huge_page: () => ({
    answer: () => ({ headers: { 'content-type': 'text/html' }, body: forEver(PAGE.repeat(KiB)) }),
    ends: UNREADABLE,
  }),
  huge_refusal: ({ chance }) => ({
    answer: () => ({
      status: chance.pick([400, 429, 500, 503]),
      headers: { 'retry-after': chance.pick(['-1', '1e9', 'soon', '999999999999']) },
      body: forEver(`{"error":{"message":"${'no '.repeat(20 * KiB)}`),
    }),
    ends: ['failed invalid_args', 'failed rate_limited', 'failed overloaded'],
  }),
  nothing: () => bytes(Buffer.alloc(0)),
}

const PAGE = '<!doctype html><html><body><h1>Welcome to the harbour</h1></body></html>\n'
const OTHER_TYPES = [
  'application/json',
  'text/plain',
  'application/octet-stream',
  'text/event-streams',
]
const OTHER_VALUES = [
  'null',
  '0',
  '-1',
  '1.5',
  '1e308',
  '""',
  '"x"',
  'true',
  '[]',
  '{}',
  '[[1]]',
  '{"type":7}',
]

function bytes(body: Buffer): Noise {
  return { answer: () => ({ body }) }
}

function flipped({ bytes: whole, chance }: Source): Buffer {
  const damaged = Buffer.from(whole)
  for (let left = 1 + chance.below(8); left > 0; left--) {
    const at = chance.below(damaged.length)
    damaged[at] = (damaged[at] ?? 0) ^ (1 << chance.below(8))
  }
  return damaged
}

function inserted({ bytes: whole, chance }: Source): Buffer {
  const at = chance.below(whole.length)
  return Buffer.concat([
    whole.subarray(0, at),
    chance.bytes(1 + chance.below(40)),
    whole.subarray(at),
  ])
}

function deleted({ bytes: whole, chance }: Source): Buffer {
  const at = chance.below(whole.length)
  return Buffer.concat([whole.subarray(0, at), whole.subarray(at + 1 + chance.below(200))])
}

function duplicated({ frames, chance }: Source): Buffer {
  return joined(frames.flatMap((frame) => (chance.below(6) === 0 ? [frame, frame] : [frame])))
}

function swapped({ frames, chance }: Source): Buffer {
  const at = chance.below(frames.length - 1)
  return joined(
    frames.map((frame, i) => frames[i === at ? at + 1 : i === at + 1 ? at : i] ?? frame),
  )
}

function shuffled<T>(all: readonly T[], below: (n: number) => number): T[] {
  const left = [...all]
  return all.flatMap(() => left.splice(below(left.length), 1))
}

function nested(depth: number): string {
  return `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
}

function withoutUtf8({ bytes: whole, chance }: Source): Buffer {
  const at = whole.indexOf('"', chance.below(whole.length - 200))
  const wrong = chance.pick([[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f], [0xc0, 0x80], [0]])
  return Buffer.concat([whole.subarray(0, at + 1), Buffer.from(wrong), whole.subarray(at + 1)])
}

/** A CR and the LF of the next line would be one line end, so no LF follows a CR that ends a line. */
function withLineEnds({ bytes: whole, chance }: Source): Buffer {
  let last = ''
  const text = whole.toString('utf8').replaceAll(/\n/g, (_, at: number, all: string) => {
    const blank = all[at - 1] === '\n'
    last = chance.pick(blank && last === '\r' ? ['\r\n', '\r'] : ['\n', '\r\n', '\r'])
    return last
  })
  return Buffer.from(`\uFEFF${text}`)
}

function withUnknownEvents({ frames, chance }: Source): Buffer {
  const unknownEvent =
    'event: weather.changed\ndata: {"type":"weather.changed","wind":{"knots":[7,8]}}\n\n'
  return joined(
    frames.flatMap((frame) => (chance.below(3) === 0 ? [unknownEvent, frame] : [frame])),
  )
}

function withComments({ frames, chance }: Source): Buffer {
  const fillers = [
    ': ping\n\n',
    ':\n',
    'id: 7\n',
    'retry: 10\n',
    'strange\n',
    '\n\n',
    'event: x\n\n',
  ]
  return joined(frames.flatMap((frame) => [chance.pick(fillers), frame]))
}

async function* inPieces({ bytes: whole, chance }: Source): AsyncGenerator<Buffer, void, void> {
  for (let at = 0; at < whole.length;) {
    const length = 1 + chance.below(40)
    yield whole.subarray(at, at + length)
    at += length
  }
}

async function* dribbled({ bytes: whole }: Source): AsyncGenerator<Buffer, void, void> {
  for (let at = 0; at < whole.length; at += 3) {
    yield whole.subarray(at, at + 3)
    await turn()
  }
}

function longCall({ dialect, chance }: Source): Buffer {
  const content = 'tau '.repeat((1 + chance.below(8)) * 32 * KiB)
  const json = JSON.stringify({ path: 'long.txt', content })
  const whole = chance.below(2) === 0 ? json : json.slice(0, -1 - chance.below(20))
  return sseOf(dialect, { calls: [{ id: 'call_long', name: 'write', arguments: whole }] })
}

function manyCalls({ dialect, chance }: Source): Buffer {
  const calls = Array.from({ length: 50 + chance.below(150) }, (_, i) => {
    const name = chance.pick(['read', 'nobody_knows_it', 'wri te', '', 'x'.repeat(300)])
    return { id: `call_${chance.below(4) === 0 ? 0 : i}`, name, arguments: '{"path":"notes.txt"}' }
  })
  return sseOf(dialect, { calls })
}

/** Few bytes, and a large number of values. */
function crowded({ chance, frames }: Source): Buffer {
  const many = (one: string) => one.repeat(Math.floor((2.9 * MiB) / one.length)).slice(0, -1)
  const event = chance.pick([
    `{"type":"weather.changed","wind":[${many('[],')}]}`,
    `{"choices":[{"delta":{"tool_calls":[${many('{"index":7},')}]}}]}`,
    `{"type":"response.completed","response":{"output":[${many('{"type":"x"},')}]}}`,
    `{"type":"error","error":{"message":[${many('{},')}]}}`,
  ])
  return Buffer.concat([joined(frames.slice(0, 3)), Buffer.from(`data: ${event}\n\n`)])
}

async function* hugeEvent(
  dialect: Source['dialect'],
  inLines: boolean,
): AsyncGenerator<string, void, void> {
  yield* longAnswer({ dialect, pieceBytes: 1, pieces: 1 })
  yield 'data: {"type":"weather.changed","wind":"'
  const piece = inLines ? 'data: xxxxxxx\n'.repeat(4 * KiB) : 'x'.repeat(64 * KiB)
  for (let left = 20 * MiB; left > 0; left -= piece.length) yield piece
  yield '"}\n\n'
}

async function* forEver(piece: string): AsyncGenerator<string, void, void> {
  for (;;) yield piece
}

async function* silentAfter(
  some: Buffer,
  hungUp: Promise<void>,
): AsyncGenerator<Buffer, void, void> {
  yield some
  await hungUp
}
