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
  const byte = fc.constantFrom(...Array.from('{}[]",:\\0-1.e truefalsn\'/*\n'))
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
      } else if (members !== undefined) {
        // Only the content of a string may be wrong: replacing each string by a good one makes the text valid.
        expect(parseJson(changed.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '"x"'))).toBeDefined()
      }
    }),
    { numRuns: 2_000 },
  )
})
