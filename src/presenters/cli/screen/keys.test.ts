import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeyDecoder, type Key } from './keys.ts'

/** Each key as a word: a chord, a character in quotes, or a paste. */
function wordsOf(keys: readonly Key[]): string[] {
  return keys.map((key) => {
    if (key.kind === 'press') return key.chord
    return key.kind === 'paste' ? `paste ${JSON.stringify(key.text)}` : JSON.stringify(key.text)
  })
}

function decoded(...pieces: (string | Buffer)[]): string[] {
  const decoder = new KeyDecoder()
  const keys = pieces.flatMap((piece) => decoder.push(Buffer.from(piece)))
  return wordsOf([...keys, ...decoder.flush()])
}

test.each([
  ['plain letters', 'aß日👍', ['"a"', '"ß"', '"日"', '"👍"']],
  ['a byte order mark', '\ufeffa', ['"\ufeff"', '"a"']],
  ['the keys of a line', '\r\n\t\x7f\b', ['enter', 'ctrl-j', 'tab', 'backspace', 'backspace']],
  ['controls', '\x01\x03\x1a\x00', ['ctrl-a', 'ctrl-c', 'ctrl-z', 'ctrl-`']],
  ['arrows, both ways', '\x1b[A\x1bOB\x1b[C\x1bOD', ['up', 'down', 'right', 'left']],
  ['home, end, delete', '\x1b[H\x1b[4~\x1b[3~\x1b[1~', ['home', 'end', 'delete', 'home']],
  ['modified arrows', '\x1b[1;5D\x1b[1;3C\x1b[1;2A', ['ctrl-left', 'alt-right', 'shift-up']],
  [
    'alt and a letter',
    '\x1bb\x1bF\x1b\r\x1b\x7f',
    ['alt-b', 'alt-f', 'alt-enter', 'alt-backspace'],
  ],
  ['shift and enter', '\x1b[13;2u\x1b[27;2;13~', ['shift-enter', 'shift-enter']],
  ['shift and tab', '\x1b[Z', ['shift-tab']],
  ['an escape alone', '\x1b', ['escape']],
  ['two escapes', '\x1b\x1b', ['escape', 'escape']],
  ['an escape before an arrow', '\x1b\x1b[A', ['escape', 'up']],
  ['unknown sequences', '\x1b[I\x1b[?1;2c\x1b[[Ax\x1b[15~', ['"x"']],
  ['a sequence broken off', '\x1b[12\x1b[A\x1bO\x1b[B', ['up', 'down']],
  ['a sequence without end', `\x1b[${'1'.repeat(32)}xy`, ['"y"']],
  ['the second set of controls', '\x9b31mx', ['"3"', '"1"', '"m"', '"x"']],
  ['a paste', '\x1b[200~a\r\nb\rc\n\x1b[201~d', ['paste "a\\nb\\nc\\n"', '"d"']],
  ['an empty paste', '\x1b[200~\x1b[201~', ['paste ""']],
] as const)('%s become their keys', (_title, bytes, words) => {
  expect(decoded(bytes)).toEqual(words)
})

test('a paste keeps escape sequences, keys and broken ends as text', () => {
  const text = '\x1b[31mred\x1b[0m \x03 \x1b[20 \x1b[201 \x1b'
  expect(decoded(`\x1b[200~${text}\x1b[201~`)).toEqual([`paste ${JSON.stringify(text)}`])
})

test('invalid UTF-8 becomes replacement characters and affects nothing after it', () => {
  const pieces = [Buffer.from([0xe6, 0x97]), '\x1b[A', Buffer.from([0xff, 0x61])]
  expect(decoded(...pieces)).toEqual(['"\ufffd"', 'up', '"\ufffd"', '"a"'])
})

test('an unfinished paste is not flushed, and an incomplete sequence is undecided', () => {
  const decoder = new KeyDecoder()
  expect([decoder.push(Buffer.from('\x1b[20')), decoder.isUndecided]).toEqual([[], true])
  expect([decoder.push(Buffer.from('0~abc')), decoder.isUndecided]).toEqual([[], false])
  expect(decoder.flush()).toEqual([])
  expect(wordsOf(decoder.push(Buffer.from('\x1b[201~')))).toEqual(['paste "abc"'])
})

test('what the terminal reports is not a key, wherever it is cut and however it ends', () => {
  for (const end of ['\x07', '\x1b\\']) {
    const bytes = Buffer.from(`a\x1b]11;rgb:1e1e/2e2e/3e3e${end}b`)
    for (let at = 0; at <= bytes.length; at += 1) {
      const reports: string[] = []
      const decoder = new KeyDecoder((text) => reports.push(text))
      const keys = [...decoder.push(bytes.subarray(0, at)), ...decoder.push(bytes.subarray(at))]
      expect([wordsOf(keys), reports]).toEqual([['"a"', '"b"'], ['11;rgb:1e1e/2e2e/3e3e']])
    }
  }
})

const piece = fc.oneof(
  fc.constantFrom(
    'a',
    '日',
    '👍🏽',
    '\r',
    '\x03',
    '\x1b[A',
    '\x1bOB',
    '\x1b[1;5C',
    '\x1b[3~',
    '\x1bx',
  ),
  fc.constantFrom('\x1b[200~', '\x1b[201~', '\x1b[', '\x1b', '\x1b[[', '\r\n'),
  fc.string({ unit: 'binary' }),
)

test('the same bytes are the same keys, wherever they are cut', () => {
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat()), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''))
      const places = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b)
      const parts = [0, ...places].map((from, at) => bytes.subarray(from, places[at]))
      expect(decoded(...parts)).toEqual(decoded(bytes))
    }),
  )
})
