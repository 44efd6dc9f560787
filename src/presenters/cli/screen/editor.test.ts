import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { graphemes } from './draft.ts'
import { apply, clearEditor, giveBack, newEditor, withHistory, type EditorState } from './editor.ts'
import { KeyDecoder, type Key } from './keys.ts'

const COMMANDS = ['help', 'sessions', 'permission', 'quit']

function typed(bytes: string, state: EditorState = newEditor([])): EditorState {
  const decoder = new KeyDecoder()
  const keys = [...decoder.push(Buffer.from(bytes)), ...decoder.flush()]
  return keys.reduce((before, key) => apply(before, key, COMMANDS).state, state)
}

/** The text with a bar at the cursor. */
function shown({ draft: { text, cursor } }: EditorState): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`
}

const [UP, DOWN, LEFT, RIGHT, HOME, END] = ['A', 'B', 'D', 'C', 'H', 'F'].map((c) => `\x1b[${c}`)
const press = (chord: string): Key => ({ kind: 'press', chord })

test.each([
  ['letters are put in where the cursor is', `ac${LEFT}b`, 'ab|c'],
  ['home and end stay within their line', `one\ntwo${HOME}a${END}b`, 'one\natwob|'],
  ['backspace deletes a whole character', 'e\u0301👩‍👩‍👧‍👦日\x7f\x7f', 'e\u0301|'],
  ['an arrow passes a whole character', `a👩‍👩‍👧‍👦日${LEFT}${LEFT}b`, 'ab|👩‍👩‍👧‍👦日'],
  ['delete removes the next character', `👍🏽x${HOME}\x1b[3~`, '|x'],
  ['nothing is deleted beyond the edges', `\x7f${LEFT}a${RIGHT}\x1b[3~`, 'a|'],
  [
    'ctrl-u and ctrl-k clear the line around the cursor',
    `one\nab cd${LEFT}${LEFT}\x0b\x15`,
    'one\n|',
  ],
  ['ctrl-u at the start of a line deletes the line break', 'one\n\x15', 'one|'],
  ['ctrl-k at the end of a line deletes the line break', `a\nb${UP}${END}\x0b`, 'a|b'],
  ['ctrl-w deletes a word up to spaces', 'rm -rf ./some-thing \x17', 'rm -rf |'],
  ['alt-backspace deletes a word up to punctuation', 'rm ./some-thing\x1b\x7f', 'rm ./some-|'],
  [
    'words are passed by ctrl and arrows',
    'one two-three\x1b[1;5D\x1b[1;5D!\x1b[1;5C?',
    'one !two?|-three',
  ],
  ['alt-d deletes the next word', `one two${HOME}\x1bd`, '| two'],
  ['alt and enter begins a line', 'a\x1b\rb', 'a\nb|'],
  ['a backslash before enter begins a line', 'a\\\rb', 'a\nb|'],
  ['a paste is put in as it is', 'a\x1b[200~x\ry\x1b[201~b', 'ax\nyb|'],
  ['up and down keep the column', `abc\nd\nefg${UP}x${DOWN}y`, 'abc\ndx\nefy|g'],
  ['an enter without text sends nothing', ' \r', '|'],
  ['tab completes a command', '/pe\t', '/permission |'],
  ['tab stops where commands differ', '/\t', '/|'],
  ['tab does nothing in a text', 'say /he\t', 'say /he|'],
  ['keys without a meaning change nothing', 'a\x1b[5~\x1b\x1b[Z', 'a|'],
])('%s', (_title, bytes, expected) => {
  expect(shown(typed(bytes))).toBe(expected)
})

test('enter sends the text and leaves an empty input', () => {
  const edited = apply(typed('one\n two '), press('enter'), COMMANDS)
  expect([edited.submit, shown(edited.state)]).toEqual(['one\n two ', '|'])
})

test('arrows recall sent messages, and the draft is kept meanwhile', () => {
  const state = typed('draft', newEditor(['first', 'second\nlines']))
  const back = ['up', 'up', 'up', 'up', 'down', 'down', 'down'].map((_, at, chords) =>
    shown(
      chords.slice(0, at + 1).reduce((now, chord) => apply(now, press(chord), []).state, state),
    ),
  )
  expect(back).toEqual([
    'second\nlines|',
    'secon|d\nlines',
    'first|',
    'first|',
    'second\nlines|',
    'draft|',
    'draft|',
  ])
})

test('history that grows while an old text is shown does not change that text', () => {
  const looking = typed(`${UP}${UP}`, newEditor(['a', 'b']))
  const grown = withHistory(looking, ['a', 'b', 'c'])
  expect([shown(grown), shown(typed(DOWN ?? '', grown))]).toEqual(['a|', 'b|'])
  expect(shown(typed(UP ?? '', withHistory(newEditor(['a']), ['a', 'b'])))).toBe('b|')
})

test('returned text is put before the current draft', () => {
  expect(shown(giveBack(newEditor([]), 'lost'))).toBe('lost|')
  expect(shown(giveBack(typed('new'), 'lost'))).toBe('lost\nnew|')
  expect(shown(clearEditor(typed('gone')))).toBe('|')
})

const anyKey = fc.oneof(
  fc
    .constantFrom('a', ' ', '日', '👍🏽', '👩‍👩‍👧‍👦', 'e\u0301', '\n')
    .map((text): Key => ({ kind: 'text', text })),
  fc
    .constantFrom(
      ...'left right up down home end backspace delete ctrl-u ctrl-k ctrl-w'.split(' '),
      ...'alt-b alt-f alt-d alt-backspace tab ctrl-home ctrl-end'.split(' '),
    )
    .map(press),
)

test('after any keys, the cursor is between characters and inside the text', () => {
  fc.assert(
    fc.property(fc.array(anyKey, { maxLength: 60 }), (keys) => {
      const { draft } = keys.reduce(
        (state, key) => apply(state, key, COMMANDS).state,
        newEditor(['日本', 'a\nb']),
      )
      const edges = new Set([0])
      let at = 0
      for (const grapheme of graphemes(draft.text)) edges.add((at += grapheme.length))
      expect(edges.has(draft.cursor)).toBe(true)
    }),
  )
})
