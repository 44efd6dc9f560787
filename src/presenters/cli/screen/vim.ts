import {
  after,
  before,
  deleteTo,
  insertText,
  lineEnd,
  lineStart,
  moveTo,
  type Draft,
} from './draft.ts'
import type { Key } from './keys.ts'
import { motionOf, searchMotion, type SignSearch, type Motion } from './vim-motions.ts'

/** The state of vim keys. */
export interface VimState {
  readonly mode: 'insert' | 'normal' | 'visual' | 'visual-line'
  /** A command that is not complete yet, such as `2d` or `f`. */
  readonly keys: string
  /** What was deleted or copied last. */
  readonly register: { readonly text: string; readonly linewise: boolean }
  /** Where the selection began. */
  readonly anchor: number
  readonly search?: SignSearch
  /** The last change, for `.`: its command, and the text typed after it. */
  readonly change?: VimChange
  /** The change whose text is being typed, and the draft where that began. */
  readonly typing?: { readonly command: string; readonly from: number }
}

interface VimChange {
  readonly command: string
  readonly text: string
}

export interface VimResult {
  readonly vim: VimState
  readonly draft?: Draft
  readonly does?: 'undo' | 'redo' | 'submit' | 'up' | 'down' | undefined
}

export const NEW_VIM: VimState = {
  mode: 'insert',
  keys: '',
  register: { text: '', linewise: false },
  anchor: 0,
}

/** What a key does with vim keys; `undefined` if it does the same as without. Pure. */
export function vimKey(draft: Draft, vim: VimState, key: Key): VimResult | undefined {
  const name = key.kind === 'press' ? key.chord : key.text
  if (vim.mode === 'insert') return name === 'escape' ? leaveInsert(draft, vim) : undefined
  if (name === 'escape')
    return { vim: { ...vim, mode: 'normal', keys: '' }, draft: onCharacter(draft) }
  if (key.kind === 'press' && !TAKEN_PRESSES.has(name)) return undefined
  return command(draft, vim, vim.keys + (KEY_NAMES[name] ?? name))
}

/** Chords that have a meaning of their own outside of insert mode; others work as usual. */
const TAKEN_PRESSES: ReadonlySet<string> = new Set([
  'enter',
  'left',
  'right',
  'up',
  'down',
  'backspace',
  'ctrl-r',
])
const KEY_NAMES: Readonly<Record<string, string>> = {
  left: 'h',
  right: 'l',
  up: 'k',
  down: 'j',
  backspace: 'h',
  enter: '\n',
  'ctrl-r': '\x12',
}

function leaveInsert(draft: Draft, vim: VimState): VimResult {
  const { typing } = vim
  const text = typing === undefined ? '' : draft.text.slice(typing.from, draft.cursor)
  const done = typing === undefined ? {} : { change: { command: typing.command, text } }
  const { typing: _, ...rest } = vim
  const back = Math.max(lineStart(draft), before(draft))
  return { vim: { ...rest, ...done, mode: 'normal', keys: '' }, draft: moveTo(draft, back) }
}

/** The cursor is on a character in normal mode, not after the last one. */
function onCharacter(draft: Draft): Draft {
  const isAfter = draft.cursor === lineEnd(draft) && draft.cursor > lineStart(draft)
  return isAfter ? moveTo(draft, before(draft)) : draft
}

/** A complete command, split: `2d3w` is a count of 6, the operator `d` and the motion `w`. */
const COMMAND = /^([1-9]\d{0,3})?(?:([dcy])([1-9]\d{0,3})?)?(.*)$/su

function command(draft: Draft, vim: VimState, typed: string): VimResult {
  if (vim.mode !== 'normal') return visual(draft, vim, typed)
  const [, first, operator, second, rest = ''] = COMMAND.exec(typed) ?? []
  const count = Number(first ?? 1) * Number(second ?? 1)
  if (rest === '' || rest === 'g' || (/^[fFtTr]$/.test(rest) && !(operator && rest === 'r')))
    return waiting(vim, typed)
  const idle = { ...vim, keys: '' }
  if (operator !== undefined) return operate(draft, idle, { operator, rest, count, keys: typed })
  const motion = motionFor(draft, idle, rest, count, first !== undefined)
  if (motion !== undefined) return { vim: motion.vim, draft: onCharacter(moveTo(draft, motion.to)) }
  return simple(draft, idle, rest, count, typed)
}

function waiting(vim: VimState, typed: string): VimResult {
  return { vim: { ...vim, keys: typed } }
}

function motionFor(
  draft: Draft,
  vim: VimState,
  rest: string,
  count: number,
  counts = false,
): (Motion & { readonly vim: VimState }) | undefined {
  const search = searchOf(vim, rest)
  if (search !== undefined) {
    const found = searchMotion(draft, search.search, count)
    const next = search.isNew ? { ...vim, search: search.search } : vim
    return { to: draft.cursor, ...found, vim: next }
  }
  if (counts && (rest === 'G' || rest === 'gg'))
    return { to: lineNumbered(draft, count), linewise: true, vim }
  const motion = motionOf(rest, draft, count)
  return motion === undefined ? undefined : { ...motion, vim }
}

function searchOf(
  { search }: VimState,
  rest: string,
): { readonly search: SignSearch; readonly isNew: boolean } | undefined {
  const way = /^[fFtT]/.exec(rest)?.[0]
  if (way === 'f' || way === 'F' || way === 't' || way === 'T')
    return { search: { way, sign: rest.slice(1) }, isNew: true }
  if (search === undefined || (rest !== ';' && rest !== ',')) return undefined
  const turned = { f: 'F', F: 'f', t: 'T', T: 't' } as const
  return {
    search: rest === ';' ? search : { ...search, way: turned[search.way] },
    isNew: false,
  }
}

function lineNumbered(draft: Draft, number: number): number {
  let at = 0
  for (let line = 1; line < number; line += 1) {
    const next = draft.text.indexOf('\n', at)
    if (next === -1) break
    at = next + 1
  }
  return at
}

interface Operation {
  readonly operator: string
  readonly rest: string
  readonly count: number
  readonly keys: string
}

function operate(draft: Draft, vim: VimState, operation: Operation): VimResult {
  const { operator, rest, count, keys: typed } = operation
  if (rest === operator) {
    const down = motionOf('j', draft, count - 1)
    const last = count === 1 ? draft.cursor : (down?.to ?? draft.text.length)
    return change(draft, vim, operator, span(draft, { to: last, linewise: true }), typed)
  }
  const inner = textObject(draft, rest)
  if (inner !== undefined) return change(draft, vim, operator, inner, typed)
  if (rest === 'i' || rest === 'a') return waiting(vim, typed)
  // As vim does: changing to the next word leaves the spaces before it.
  const to =
    operator === 'c' && rest === 'w' && !/\s/.test(draft.text.charAt(draft.cursor)) ? 'e' : rest
  const motion = motionFor(draft, vim, to, count)
  if (motion === undefined) return { vim }
  return change(draft, motion.vim, operator, span(draft, motion), typed)
}

interface Selection {
  readonly from: number
  readonly to: number
  readonly linewise: boolean
}

function span(draft: Draft, { to, inclusive = false, linewise = false }: Motion): Selection {
  const [low, high] = [Math.min(draft.cursor, to), Math.max(draft.cursor, to)]
  if (linewise)
    return {
      from: lineStart(moveTo(draft, low)),
      to: lineEnd(moveTo(draft, high)),
      linewise: true,
    }
  const end = inclusive && to >= draft.cursor ? after(moveTo(draft, high)) : high
  return { from: low, to: end, linewise: false }
}

/** `iw` and `aw`. */
function textObject(draft: Draft, rest: string): Selection | undefined {
  if (rest !== 'iw' && rest !== 'aw') return undefined
  const line = draft.text.slice(lineStart(draft), lineEnd(draft))
  const at = draft.cursor - lineStart(draft)
  for (const { index, 0: word } of line.matchAll(
    /[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]+/gu,
  )) {
    if (at < index || at >= index + word.length) continue
    const blank = rest === 'aw' ? (/^\s+/.exec(line.slice(index + word.length))?.[0] ?? '') : ''
    const from = lineStart(draft) + index
    return { from, to: from + word.length + blank.length, linewise: false }
  }
  return { from: draft.cursor, to: draft.cursor, linewise: false }
}

function change(
  draft: Draft,
  vim: VimState,
  operator: string,
  { from, to, linewise }: Selection,
  typed: string,
): VimResult {
  const text = draft.text.slice(from, to)
  const next: VimState = { ...vim, mode: 'normal', register: { text, linewise } }
  const at = moveTo(draft, from)
  if (operator === 'y')
    return {
      vim: next,
      draft: onCharacter(linewise ? moveTo(draft, Math.min(draft.cursor, to)) : at),
    }
  if (operator === 'c') return insertAt(deleteTo(at, to), next, typed)
  const changed = { ...next, change: { command: typed, text: '' } }
  if (!linewise) return { vim: changed, draft: onCharacter(deleteTo(at, to)) }
  // The line goes with its line break, or with the one before it if it is the last.
  const isLast = to === draft.text.length
  const rest = deleteTo(moveTo(draft, isLast ? Math.max(0, from - 1) : from), isLast ? to : to + 1)
  return { vim: changed, draft: moveTo(rest, lineStart(rest)) }
}

function insertAt(draft: Draft, vim: VimState, typed: string): VimResult {
  const typing = { command: typed, from: draft.cursor }
  return { vim: { ...vim, mode: 'insert', keys: '', typing }, draft }
}

/** Commands without an operator. */
function simple(
  draft: Draft,
  vim: VimState,
  rest: string,
  count: number,
  typed: string,
): VimResult {
  const start = INSERTS[rest]
  if (start !== undefined) return insertAt(start(draft), vim, typed)
  const [sign, ...signs] = rest
  if (sign === 'r') return replaceSigns(draft, vim, signs.join(''), count, typed)
  const short = SHORT[rest]
  if (short !== undefined)
    return operate(draft, vim, { operator: short[0], rest: short[1], count, keys: typed })
  switch (rest) {
    case 'p':
    case 'P':
      return put(draft, vim, rest, count, typed)
    case 'u':
      return { vim, does: 'undo' }
    case '\x12':
      return { vim, does: 'redo' }
    case '\n':
      return { vim, does: 'submit' }
    case 'j':
    case 'k':
      return { vim, does: rest === 'j' ? 'down' : 'up' }
    case 'v':
    case 'V':
      return {
        vim: { ...vim, mode: rest === 'v' ? 'visual' : 'visual-line', anchor: draft.cursor },
      }
    case '.':
      return again(draft, vim)
    default:
      return { vim }
  }
}

const INSERTS: Readonly<Record<string, (draft: Draft) => Draft>> = {
  i: (draft) => draft,
  a: (draft) => moveTo(draft, Math.min(lineEnd(draft), after(draft))),
  I: (draft) => moveTo(draft, motionOf('^', draft, 1)?.to ?? lineStart(draft)),
  A: (draft) => moveTo(draft, lineEnd(draft)),
  o: (draft) => insertText(moveTo(draft, lineEnd(draft)), '\n'),
  O: (draft) => moveTo(insertText(moveTo(draft, lineStart(draft)), '\n'), lineStart(draft)),
}

/** Commands that stand for an operator and a motion. */
const SHORT: Readonly<Record<string, readonly [string, string]>> = {
  x: ['d', 'l'],
  X: ['d', 'h'],
  D: ['d', '$'],
  C: ['c', '$'],
  s: ['c', 'l'],
  S: ['c', 'c'],
  Y: ['y', 'y'],
}

function replaceSigns(
  draft: Draft,
  vim: VimState,
  sign: string,
  count: number,
  typed: string,
): VimResult {
  const end = motionOf('l', draft, count)?.to ?? draft.cursor
  if (end === draft.cursor) return { vim }
  const filled = insertText(deleteTo(draft, end), sign.repeat(count))
  const next = { ...vim, change: { command: typed, text: '' } }
  return { vim: next, draft: moveTo(filled, before(filled)) }
}

function put(draft: Draft, vim: VimState, key: 'p' | 'P', count: number, typed: string): VimResult {
  const { text, linewise } = vim.register
  const next = { ...vim, change: { command: typed, text: '' } }
  const copies = (linewise ? `${text}\n` : text).repeat(count)
  if (copies === '') return { vim }
  if (!linewise) {
    const at = key === 'p' ? Math.min(lineEnd(draft), after(draft)) : draft.cursor
    const filled = insertText(moveTo(draft, at), copies)
    return { vim: next, draft: moveTo(filled, before(filled)) }
  }
  if (key === 'P') {
    const at = moveTo(draft, lineStart(draft))
    return { vim: next, draft: moveTo(insertText(at, copies), at.cursor) }
  }
  const at = moveTo(draft, lineEnd(draft))
  return { vim: next, draft: moveTo(insertText(at, `\n${copies.slice(0, -1)}`), at.cursor + 1) }
}

/** Repeats the last change, with the text that was typed for it. */
function again(draft: Draft, vim: VimState): VimResult {
  const { change: last } = vim
  if (last === undefined) return { vim }
  const done = command(draft, { ...vim, keys: '' }, last.command)
  if (done.vim.mode !== 'insert') return { ...done, vim: { ...done.vim, change: last } }
  const { typing: _, ...rest } = done.vim
  const filled = insertText(done.draft ?? draft, last.text)
  return {
    vim: { ...rest, mode: 'normal', change: last },
    draft: moveTo(filled, Math.max(lineStart(filled), before(filled))),
  }
}

/** Motions extend the selection; an operator ends it. */
function visual(draft: Draft, vim: VimState, typed: string): VimResult {
  const [, first, , , all = ''] = /^([1-9]\d{0,3})?()()(.*)$/su.exec(typed) ?? []
  if (all === '' || all === 'g' || /^[fFtTr]$/.test(all)) return waiting(vim, typed)
  const idle = { ...vim, keys: '' }
  const motion = motionFor(draft, idle, all, Number(first ?? 1), first !== undefined)
  if (motion !== undefined) return { vim: motion.vim, draft: moveTo(draft, motion.to) }
  const linewise = vim.mode === 'visual-line'
  const selection = span(moveTo(draft, Math.min(vim.anchor, draft.cursor)), {
    to: Math.max(vim.anchor, draft.cursor),
    inclusive: true,
    linewise,
  })
  const operator = { x: 'd', s: 'c' }[all] ?? all
  if (operator === 'd' || operator === 'c' || operator === 'y')
    return change(draft, { ...idle, mode: 'normal' }, operator, selection, '')
  if (all === 'v' || all === 'V') {
    const mode = all === 'v' ? 'visual' : 'visual-line'
    return { vim: { ...idle, mode: mode === vim.mode ? 'normal' : mode } }
  }
  if (all === 'p') {
    const cut = deleteTo(moveTo(draft, selection.from), selection.to)
    return { vim: { ...idle, mode: 'normal' }, draft: insertText(cut, vim.register.text) }
  }
  return { vim: idle }
}
