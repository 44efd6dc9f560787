import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJsonObject, parseJson } from './json.ts'
import { ObjectScan } from './top-level-members.ts'

/** Keys and the JSON of their values, as the scanner finds them, however the text is cut into chunks. */
function found(text: string | Buffer): [string, string][] | undefined {
  const bytes = Buffer.from(text)
  const whole = scanned(bytes, bytes.length)
  for (const size of bytes.length < 1_000 ? [1, 2, 3, 7] : [997]) {
    const inPieces = scanned(bytes, size)
    // Much faster than an expectation, of which a property would need tens of thousands.
    if (JSON.stringify(inPieces) !== JSON.stringify(whole)) expect(inPieces).toEqual(whole)
  }
  return whole
}

function scanned(bytes: Buffer, size: number): [string, string][] | undefined {
  const scan = new ObjectScan()
  for (let at = 0; at < bytes.length; at += size) {
    if (!scan.push(bytes.subarray(at, at + size))) return undefined
  }
  if (!scan.isWhole) return undefined
  return scan.members.map(({ key, from, to, beginning }, at) => {
    const isExact = beginning.equals(bytes.subarray(from, Math.min(to, from + 1024)))
    if (!isExact || scan.keys[at] !== key) throw new Error(`wrong member ${at}`)
    return [key, bytes.toString('utf8', from, to)]
  })
}

test('every member is found with its exact value', () => {
  const text =
    ' {"a" : [1, {"model":"inner"}, "]}"] ,\n"b":"x\\"y\\\\","c":{},"d":-1.5e+3,"a":null}\t'
  expect(found(text)).toEqual([
    ['a', '[1, {"model":"inner"}, "]}"]'],
    ['b', '"x\\"y\\\\"'],
    ['c', '{}'],
    ['d', '-1.5e+3'],
    ['a', 'null'],
  ])
})

test('keys are returned as written', () => {
  expect(found('{"mod\\u0065l":1,"":2}')).toEqual([
    ['mod\\u0065l', '1'],
    ['', '2'],
  ])
})

const INVALID = [
  '',
  ' ',
  '[]',
  '"model"',
  '{',
  '{}}',
  '{},',
  '{}x',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{,"a":1}',
  '{"a":1 "b":2}',
  '{"a":[}',
  '{"a":[1,]}',
  '{"a":{]}',
  '{"a":"}',
  '{"a":"\\"}',
  '{"a":01}',
  '{"a":+1}',
  '{"a":1.}',
  '{"a":nul}',
  '{"a":NaN}',
  '{"a":True}',
  '{a:1}',
  "{'a':1}",
  '{"a":1/**/}',
  '//\n{"a":1}',
  '\uFEFF{"a":1}',
  '{"a":1}\0',
  `{"a":${'1'.repeat(100)}}`,
  `{"a":${'['.repeat(513)}${']'.repeat(513)}}`,
  `{${Array.from({ length: 300 }, (_, at) => `"${at}":1`).join(',')}}`,
]

test.each(INVALID)('is not one object: %j', (text) => {
  expect(found(text)).toBeUndefined()
})

test('text in another encoding is not one object', () => {
  expect(found(Buffer.from('{"model":"a"}', 'utf16le'))).toBeUndefined()
  expect(found(Buffer.from('\uFEFF{"model":"a"}', 'utf16le'))).toBeUndefined()
})

test.each([31, 32, 33, 34, 63, 64, 65, 66, 100_000])(
  'a string of %i bytes ends at its own quote',
  (length) => {
    for (const end of ['', '\\"', '\\\\', '\\\\\\"', '"'.repeat(0)]) {
      const text = `{"a":"${'x'.repeat(length - end.length)}${end}","b":1}`
      expect(found(text)?.map(([key]) => key)).toEqual(['a', 'b'])
    }
  },
)

const jsonText = fc.json({ maxDepth: 4 })
const objectText = fc
  .array(fc.tuple(fc.oneof(fc.constant('model'), fc.string({ maxLength: 80 })), jsonText), {
    maxLength: 6,
  })
  .map((members) => `{${members.map(([key, of]) => `${JSON.stringify(key)}:${of}`).join(' , ')}}`)

test('finds the members that a parser finds', () => {
  fc.assert(
    fc.property(objectText, (text) => {
      const entries = (found(text) ?? []).map(([key, inner]): [string, unknown] => [
        String(parseJson(`"${key}"`)),
        parseJson(inner),
      ])
      expect(found(text)).toBeDefined()
      // A repeated key has its last value.
      const parsed = parseJson(text)
      expect(new Map(entries)).toEqual(new Map(isJsonObject(parsed) ? Object.entries(parsed) : []))
    }),
    { numRuns: 500 },
  )
})

test('finds nothing that a parser does not find, whatever character is changed, added or lost', () => {
  const byte = fc.constantFrom(...Array.from('{}[]",:\\0-1.e truefalsn\'/*\n\t\0\u001f\u007f'))
  fc.assert(
    fc.property(objectText, fc.nat(), fc.nat(1), byte, (text, place, removed, added) => {
      const at = place % (text.length + 1)
      const changed = `${text.slice(0, at)}${added}${text.slice(at + removed)}`
      const members = found(changed)
      const parsed = parseJson(changed)
      if (isJsonObject(parsed)) {
        expect(members?.map(([key]) => parseJson(`"${key}"`)).toSorted()).toEqual(
          expect.arrayContaining(Object.keys(parsed)),
        )
      } else expect(members).toBeUndefined()
    }),
    { numRuns: 2_000 },
  )
})

const WRONG_CONTENT: readonly [string, readonly number[]][] = [
  ['a control character', [0x00]],
  ['a line break', [0x0a]],
  ['the last control character', [0x1f]],
  ['an unknown escape', [...Buffer.from('\\x41')]],
  ['an escaped line break', [0x5c, 0x0a]],
  ['an escape of another character', [...Buffer.from("\\'")]],
  ['an escape without digits', [...Buffer.from('\\u')]],
  ['an escape of three digits', [...Buffer.from('\\u004')]],
  ['an escape of other letters', [...Buffer.from('\\u00g0')]],
  ['a capital U', [...Buffer.from('\\U0041')]],
  ['a lone byte', [0xff]],
  ['a continuation alone', [0x80]],
  ['a character cut off', [0xe2, 0x82]],
  ['an overlong form', [0xc0, 0xaf]],
  ['a surrogate in bytes', [0xed, 0xa0, 0x80]],
  ['a code point above the last', [0xf4, 0x90, 0x80, 0x80]],
]
const RIGHT_CONTENT: readonly string[] = [
  '',
  '\\"\\\\\\/\\b\\f\\n\\r\\t',
  '\\u0041\\uD83D\\ude00\\ud800',
  '\u007f\u0080\u2028é€😀',
  '\\\\u12',
]

/** Strings in every place: short and long, as a key, a value, and inside of a value. */
function bodiesWith(content: Buffer): Buffer[] {
  return [0, 30, 31, 32, 33, 2_000].flatMap((length) => {
    const text = Buffer.concat([Buffer.alloc(length, 'x'), content, Buffer.alloc(length, 'y')])
    const quoted = [Buffer.from('"'), text, Buffer.from('"')]
    return [
      ['{"a":', ...quoted, '}'],
      ['{', ...quoted, ':1}'],
      ['{"a":[[', ...quoted, ',1]]}'],
      ['{"a":{"b":{', ...quoted, ':2}}}'],
    ].map((pieces) => Buffer.concat(pieces.map((piece) => Buffer.from(piece))))
  })
}

/** As before: the content of strings was not read. */
function naive(bytes: Buffer): boolean {
  return isJsonObject(parseJson(bytes.toString('latin1').replaceAll(/"(?:[^"\\]|\\.)*"/gs, '"x"')))
}

test.each(WRONG_CONTENT)('a string with %s is refused, wherever it is', (_, content) => {
  const bodies = bodiesWith(Buffer.from(content))
  expect(bodies.filter((body) => found(body) !== undefined)).toEqual([])
  // The corpus would find a scanner that does not read strings.
  expect(bodies.some(naive)).toBe(true)
})

test.each(RIGHT_CONTENT)('a string with %j is accepted, wherever it is', (content) => {
  const bodies = bodiesWith(Buffer.from(content))
  expect(bodies.filter((body) => found(body) === undefined)).toEqual([])
})

test('long strings with escapes may be cut anywhere', () => {
  const line = 'const x = "a\\b";\n'
  const texts = [0, 1, 2, 3].map((shift) => `${'x'.repeat(shift)}${line.repeat(12)}`)
  const bytes = Buffer.from(JSON.stringify({ a: [texts, { b: texts }], c: texts.join('é') }))
  for (let size = 1; size < 400; size += 1)
    expect(scanned(bytes, size)?.map(([key]) => key)).toEqual(['a', 'c'])
})

test('accepts exactly the bytes that a parser accepts', () => {
  const bytes = fc.array(
    fc.oneof(
      fc.constantFrom(...Buffer.from('"\\u0aFbn{}[]:,')),
      fc.nat(255),
      fc.constantFrom(0xe2, 0x82, 0xac, 0xed, 0xa0, 0x80, 0xf0, 0x9f, 0x98),
    ),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(bytes, fc.nat(40), (inserted, before) => {
      const text = Buffer.concat([
        Buffer.from(`{"a":["${'x'.repeat(before)}`),
        Buffer.from(inserted),
        Buffer.from('é"]}'),
      ])
      const isValid = isUtf8(text) && isJsonObject(parseJson(text.toString('utf8')))
      expect(found(text) !== undefined).toBe(isValid)
    }),
    { numRuns: 1_000 },
  )
})
