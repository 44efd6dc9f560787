import { crc32 } from 'node:zlib'
import { createHash } from 'node:crypto'

/** A Log as bytes, and the outcome that every reader must reach. */
interface ExampleLog {
  readonly name: string
  readonly bytes: Buffer
  readonly says: string
  /** The number of valid lines, from the start. */
  readonly good_lines: number
  /** Hash of the last valid line. */
  readonly last_hash: string | null
  /** Why reading stops before the end, and at which byte. */
  readonly fault?: string
  readonly fault_offset?: number
}

// Deliberately independent of the program: these bytes follow docs/spec/log.md, not src/log.
const SESSION = 'ses_01kg8m2q3r4s5t6v7w8x9y0z12'
const PARENT_HASH = sha256('a line of the parent')

export function exampleLogs(): ExampleLog[] {
  const whole = chain(0, null, [started(), turn(1), message('Grüße, Hafen'), future(), ended()])
  const lines = whole.lines
  const cut = (at: number) => Buffer.concat(lines.slice(0, at))
  const good = (name: string, says: string, made: Chain): ExampleLog => {
    const last = made.lines.at(-1)
    const last_hash = last === undefined ? null : sha256(last.subarray(0, -1))
    return { name, says, bytes: Buffer.concat(made.lines), good_lines: made.lines.length, last_hash }
  }
  /** The whole Log with `line` in place of its third line. */
  const bad = (name: string, fault: string, says: string, line: Buffer, at = 2): ExampleLog => ({
    name,
    says,
    bytes: Buffer.concat([cut(at), line, ...lines.slice(at + 1)]),
    good_lines: at,
    last_hash: sha256((lines[at - 1] ?? Buffer.alloc(0)).subarray(0, -1)),
    fault,
    fault_offset: cut(at).length,
  })
  const third = (lines[2] ?? Buffer.alloc(0)).toString('utf8')
  const reseal = (text: string) => sealed(text.replace(/,"crc":"[0-9a-f]{8}"\}\n$/, ''))
  return [
    good('empty', 'A Log before its first line.', { lines: [] }),
    good('whole', 'A finished Turn; one Event is of a type that no version knows yet.', whole),
    good('fork', 'A fork: it starts where its parent stood.', chain(8, PARENT_HASH, [fork(7)])),
    good('batched', 'Three lines of one write.', chain(0, null, [started(), turn(1), message('x')], true)),
    bad('unterminated', 'unterminated', 'The last line has no newline.', Buffer.from(third.slice(0, 60)), 4),
    bad('flipped', 'checksum', 'One letter of a text is another.', Buffer.from(third.replace('Hafen', 'Hagen'))),
    bad('glued', 'checksum', 'A newline is missing between two lines.', Buffer.from(third.slice(0, -1))),
    bad('dropped', 'sequence', 'A line is missing.', Buffer.alloc(0)),
    bad('doubled', 'sequence', 'A line stands twice.', Buffer.from(third + third), 3),
    bad('other-chain', 'chain', 'A line names another line before it.', reseal(third.replace(/"prev":"./, '"prev":"0'))),
    bad('other-session', 'other_session', 'A line of another Session.', reseal(third.replaceAll(SESSION, SESSION.replace(/2$/, '3')))),
    bad('newer', 'version', 'A line of a newer format.', Buffer.from('{"v":2,"whatever":[]}\n')),
    bad('not-json', 'not_json', 'A good checksum over something else.', sealed('{"v":1,"seq":2,')),
    bad('not-utf8', 'not_utf8', 'A byte that UTF-8 does not have.', Buffer.concat([Buffer.from([0xff]), Buffer.from(third)])),
    bad('deep', 'too_deep', 'Nested ten thousand deep.', reseal(third.replace('"Grüße, Hafen"', deep(10_000)))),
    bad('double-key', 'not_canonical', 'A key stands twice.', reseal(third.replace('"seq":2', '"seq":3,"seq":2'))),
    bad('surrogate', 'not_canonical', 'Half of a surrogate pair.', reseal(third.replace('Grüße', '\\ud83d'))),
    bad('no-id', 'envelope', 'An Event without an id.', reseal(third.replace(/"id":"[^"]*",/, ''))),
  ]
}

interface Chain {
  readonly lines: readonly Buffer[]
}

interface Draft {
  readonly type: string
  readonly turn: boolean
  readonly data: object
}

function chain(firstSeq: number, firstPrev: string | null, drafts: readonly Draft[], batched = false): Chain {
  let prev = firstPrev
  const lines = drafts.map(({ type, turn: inTurn, data }, i) => {
    const seq = firstSeq + i
    const line = sealed(
      `{"v":1,"seq":${seq},"id":"evt_01kg8m2q3r4s5t6v7w8x9y0z${40 + seq}","session_id":"${SESSION}",` +
        (inTurn ? '"turn_id":"trn_01kg8m2q3r4s5t6v7w8x9y0z99",' : '') +
        `"ts":"2026-01-31T12:00:0${seq}.000Z","type":"${type}","data":${JSON.stringify(data)},` +
        (batched && i > 0 ? `"batch":${i},` : '') +
        `"prev":${prev === null ? 'null' : `"${prev}"`}`,
    )
    prev = sha256(line.subarray(0, -1))
    return line
  })
  return { lines }
}

function sealed(body: string): Buffer {
  return Buffer.from(`${body},"crc":"${crc32(body).toString(16).padStart(8, '0')}"}\n`)
}

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function deep(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

const started = (): Draft => ({
  type: 'session_started',
  turn: false,
  data: {
    workspace: 'harbour',
    provider: 'rehearsal',
    model: 'rehearsal',
    mode: 'build',
    permission_mode: 'ask',
    presenter: 'cli',
    harness_version: '0.1.0',
  },
})
const turn = (n: number): Draft => ({
  type: 'turn_started',
  turn: true,
  data: { source: { presenter: 'cli' }, nth: n },
})
const message = (text: string): Draft => ({
  type: 'user_message',
  turn: true,
  data: { text, prompt_mode: 'string' },
})
const future = (): Draft => ({ type: 'tide_turned', turn: true, data: { at: [1, 2.5, null] } })
const ended = (): Draft => ({
  type: 'turn_ended',
  turn: true,
  data: {
    status: 'completed',
    usage_total: { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 },
  },
})
const fork = (at: number): Draft => ({
  type: 'session_fork',
  turn: false,
  data: {
    parent_session_id: 'ses_01kg8m2q3r4s5t6v7w8x9y0z11',
    at_seq: at,
    at_hash: PARENT_HASH,
    at_offset: 4000,
    root_session_id: 'ses_01kg8m2q3r4s5t6v7w8x9y0z11',
    resources_count: 0,
  },
})
