import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { expand, lineCount } from './chips.ts'
import { graphemes } from './draft.ts'
import {
  apply,
  clearEditor,
  newEditor,
  openChip,
  withHistory,
  wholeText,
  type EditorState,
} from './editor.ts'
import { inputBox } from './input-box.ts'
import { KeyDecoder, type Key } from './keys.ts'
import { NEW_VIM } from './vim.ts'

function typed(bytes: string, state: EditorState = newEditor([])): EditorState {
  const decoder = new KeyDecoder()
  const keys = [...decoder.push(Buffer.from(bytes)), ...decoder.flush()]
  return keys.reduce((before, key) => apply(before, key, []).state, state)
}

function shown({ draft: { text, cursor } }: EditorState): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`
}

const press = (chord: string): Key => ({ kind: 'press', chord })
const pasted = (text: string): Key => ({ kind: 'paste', text })

const [UNDO, REDO, YANK, EARLIER] = ['\x1f', '\x1b_', '\x19', '\x1by']

test.each([
  ['undo removes a word at a time', `one two${UNDO}`, 'one |'],
  ['undo twice removes both', `one two${UNDO}${UNDO}`, '|'],
  ['redo puts a word back', `one two${UNDO}${UNDO}\x1be\x1be`, 'one two|'],
  ['an edit after undo ends redo', `one two${UNDO}x\x1be`, 'one x|'],
  ['undo brings a deleted line back', `one two\x15${UNDO}`, 'one two|'],
  ['undo without a past changes nothing', `${UNDO}a`, 'a|'],
  ['a killed word can be put back twice', `one two\x17${YANK}${YANK}`, 'one twotwo|'],
  ['kills in a row are one text', `one two three\x17\x17 ${YANK}`, 'one  two three|'],
  ['Alt-Y changes to the kill before', `one\x15two\x15${YANK}${EARLIER}`, 'one|'],
  ['Alt-Y turns around', `one\x15two\x15${YANK}${EARLIER}${EARLIER}`, 'two|'],
  ['Alt-Y without a Ctrl-Y changes nothing', `one\x15two${EARLIER}`, 'two|'],
])('%s', (_title, bytes, expected) => {
  expect(shown(typed(bytes.replaceAll(REDO ?? '', '\x1be')))).toBe(expected)
})

const LOG = Array.from({ length: 6 }, (_, at) => `line ${at + 1}`).join('\n')

test('a paste of six lines is one unit of the draft, and is sent whole', () => {
  const state = apply(typed('see: '), pasted(LOG), []).state
  const box = inputBox(state.draft, 80, 5, state.chips)
  expect(box.lines.map((line) => line.map(({ text }) => text).join(''))).toEqual([
    '> see: [paste 1: 6 lines]',
  ])
  expect(apply(state, press('enter'), []).submit).toBe(`see: ${LOG}`)
  expect(shown(typed('\x7f', state))).toBe('see: |')
  expect(wholeText(typed(UNDO, typed('\x7f', state)))).toBe(`see: ${LOG}`)
})

test('a paste of five lines is text', () => {
  const text = LOG.split('\n').slice(0, 5).join('\n')
  expect(shown(apply(newEditor([]), pasted(text), []).state)).toBe(`${text}|`)
})

test('a chip is opened where it is, and then edited like any text', () => {
  const state = apply(typed('a '), pasted(LOG), []).state
  const open = openChip(typed(' b', state))
  expect(open?.draft).toEqual({ text: `a ${LOG} b`, cursor: 2 })
  expect(openChip(typed('no chip'))).toBeUndefined()
})

test('a sent chip is forgotten, and one in the history is not', () => {
  const state = apply(newEditor([]), pasted(LOG), []).state
  expect(clearEditor(state).chips.size).toBe(0)
  const stash = clearEditor(withHistory(state, [state.draft.text]))
  expect(wholeText(apply(stash, press('up'), []).state)).toBe(LOG)
})

test('pasted text is never mistaken for a chip', () => {
  const state = apply(newEditor([]), pasted(LOG), []).state
  const sign = state.draft.text
  expect(wholeText(apply(state, pasted(sign), []).state)).toBe(`${LOG}\ufffd`)
})

test('a paste of five megabytes arrives whole in pieces of any size', () => {
  const text = 'x'.repeat(63).concat('\n').repeat(80_000)
  const bytes = Buffer.from(`\x1b[200~${text}\x1b[201~!`)
  const decoder = new KeyDecoder()
  const keys: Key[] = []
  for (let at = 0; at < bytes.length; at += 1_021)
    keys.push(...decoder.push(bytes.subarray(at, at + 1_021)))
  expect(keys.map(({ kind }) => kind)).toEqual(['paste', 'text'])
  const state = keys.reduce((before, key) => apply(before, key, []).state, newEditor([]))
  expect(wholeText(state)).toBe(`${text}!`)
  expect(state.draft.text.length).toBe(3)
})

const anyText = fc.string({ unit: fc.constantFrom('a', '\n', '日', '👍🏽'), maxLength: 30 })

test('expanding gives back exactly what was typed and pasted', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 8 }), (texts) => {
      const state = texts.reduce(
        (before, text) => apply(before, pasted(text), []).state,
        newEditor([]),
      )
      expect(expand(state.draft.text, state.chips)).toBe(texts.join(''))
      expect(lineCount(texts.join(''))).toBe(texts.join('').split('\n').length)
    }),
  )
})

const anyEdit = fc.oneof(
  fc.constantFrom('a', ' ', '日', '\n').map((text): Key => ({ kind: 'text', text })),
  fc.constantFrom(LOG, 'short').map(pasted),
  fc
    .constantFrom(
      ...'left right home end backspace ctrl-w ctrl-u ctrl-k ctrl-y alt-y up down'.split(' '),
    )
    .map(press),
)

test('undoing everything and redoing it ends in the same draft', () => {
  fc.assert(
    fc.property(fc.array(anyEdit, { maxLength: 60 }), (keys) => {
      const state = keys.reduce((now, key) => apply(now, key, []).state, newEditor(['old']))
      const steps = state.undo.past.length
      let now = state
      for (let step = 0; step < steps; step += 1) now = apply(now, press('ctrl-_'), []).state
      expect(now.draft.text).toBe('')
      for (let step = 0; step < steps; step += 1) now = apply(now, press('alt-e'), []).state
      expect(now.draft).toEqual(state.draft)
    }),
  )
})

const vim = newEditor(['sent'], NEW_VIM)
const ESC = '\x1b'

/** Types in insert mode, then keys of normal mode one by one. */
function inVim(text: string, keys: string): EditorState {
  const escaped = apply(typed(text.replaceAll('\n', '\x1b\r'), vim), press('escape'), []).state
  return Array.from(keys).reduce((now, sign) => {
    const key: Key =
      sign === ESC
        ? press('escape')
        : sign === '\x12'
          ? press('ctrl-r')
          : { kind: 'text', text: sign }
    return apply(now, key, []).state
  }, escaped)
}

test.each([
  ['escape leaves the cursor on the last character', 'abc', '', 'ab|c'],
  ['0, ^ and $', '  abc', '0x^x$x', ' |b'],
  ['w, b and e', 'one two-three', '0wex', 'one tw|-three'],
  ['counts', 'one two three four', '02wdw', 'one two |four'],
  ['an operator with a count', 'one two three four', '0d2w', '|three four'],
  ['dd takes a line', 'a\nb\nc', 'kdd', 'a\n|c'],
  ['dd takes the last line', 'a\nb', 'dd', '|a'],
  ['2dd', 'a\nb\nc', 'gg2dd', '|c'],
  ['yy and p', 'a\nb', 'ggyyp', 'a\n|a\nb'],
  ['yw and P', 'one two', '0ywP', 'one| one two'],
  ['cw keeps the space', 'one two', `0cwnew${ESC}`, 'ne|w two'],
  ['the dot repeats a change with its text', 'one two', `0cwnew${ESC}w.`, 'new ne|w'],
  ['the dot repeats a deletion', 'abcd', '0x.', '|cd'],
  ['r replaces one character', 'abc', '0rx', '|xbc'],
  ['3r replaces three', 'abcd', '03rx', 'xx|xd'],
  ['f, ; and ,', 'a.b.c.d', '0f.;x', 'a.b|c.d'],
  ['t and dt', 'call(arg)', '0dt(', '|(arg)'],
  ['F goes back', 'a.b.c', 'F.x', 'a.b|c'],
  ['i, a, I, A, o, O', 'b', `IA${ESC}AC${ESC}oD${ESC}OE${ESC}`, 'AbC\n|E\nD'],
  ['u and Ctrl-r', 'one two', '0dwu', '|one two'],
  ['redo', 'one two', '0dwu\x12', '|two'],
  ['x and p swap', 'ab', '0xp', 'b|a'],
  ['gg and G', 'a\nb\nc', 'ggxGx', '\nb\n|'],
  ['visual d', 'one two', '0vlld', '| two'],
  ['visual line d', 'a\nb\nc', 'ggVjd', '|c'],
  ['visual y and p', 'ab', '0vyp', 'a|ab'],
  ['D and C', 'one two', `0wDA!${ESC}`, 'one |!'],
  ['diw takes the word', 'one two three', '0wdiw', 'one | three'],
  ['k in the first line recalls a message', 'draft', 'k', 'sent|'],
  ['an incomplete command is cancelled', 'one', `0d${ESC}x`, '|ne'],
])('vim: %s', (_title, text, keys, expected) => {
  expect(shown(inVim(text, keys))).toBe(expected)
})

test('after any vim keys, the cursor is between characters and inside the text', () => {
  const anyKey = fc.constantFrom(
    ...Array.from('hjklwbeWB0^$gGfFtT;,dcyxXrpPuivVaAIoO.sSDC123日 \x1b\x12'),
  )
  fc.assert(
    fc.property(fc.array(anyKey, { maxLength: 60 }), (keys) => {
      const { draft } = inVim('one two\n日本 👍🏽x\n', keys.join(''))
      const edges = new Set([0])
      let at = 0
      for (const grapheme of graphemes(draft.text)) edges.add((at += grapheme.length))
      expect(edges.has(draft.cursor)).toBe(true)
    }),
  )
})
