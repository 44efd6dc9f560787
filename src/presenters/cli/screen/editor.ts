import { addChip, chipsIn, expand, isLong, NO_CHIPS, withoutSigns, type Chips } from './chips.ts'
import {
  after,
  DELETIONS,
  deleteTo,
  EMPTY_DRAFT,
  inOtherLine,
  insertText,
  KILLS,
  LINE_BREAKS,
  MOTIONS,
  moveTo,
  type Draft,
} from './draft.ts'
import type { Key } from './keys.ts'
import {
  addKill,
  earlierKill,
  fromLatest,
  latestKill,
  NO_KILLS,
  type KillRing,
} from './kill-ring.ts'
import { NO_UNDO, redo, remember, undo, type UndoStack } from './undo-stack.ts'
import { vimKey, type VimState } from './vim.ts'

/** The input of a chat: a draft, and earlier messages, which can be recalled and edited. */
export interface EditorState {
  readonly draft: Draft
  /** The latest last. */
  readonly history: readonly string[]
  /** The index in `history` of the recalled message; its length for a new draft. */
  readonly at: number
  /** The new draft, kept while a message of `history` is shown. */
  readonly newDraft: Draft
  readonly chips: Chips
  readonly kills: KillRing
  readonly undo: UndoStack
  /** What the last key did: kills in a row join, letters in a row are one step of undo, and Alt-Y needs a Ctrl-Y. */
  readonly last: LastKey
  /** Absent unless the person chose vim keys. */
  readonly vim?: VimState
}

type LastKey = 'letter' | 'kill-before' | 'kill-after' | 'yank' | 'other'

export interface EditResult {
  readonly state: EditorState
  /** The text to send, with chips as their texts. Never blank. */
  readonly submit?: string
}

export function newEditor(history: readonly string[], vim?: VimState): EditorState {
  return {
    draft: EMPTY_DRAFT,
    history,
    at: history.length,
    newDraft: EMPTY_DRAFT,
    chips: NO_CHIPS,
    kills: NO_KILLS,
    undo: NO_UNDO,
    last: 'other',
    ...(vim === undefined ? {} : { vim }),
  }
}

/** Applies one key. Unknown keys change nothing. Tab completes `commands`. */
export function apply(state: EditorState, key: Key, commands: readonly string[]): EditResult {
  const { vim } = state
  if (vim !== undefined && key.kind !== 'paste') {
    const done = vimKey(state.draft, vim, key)
    if (done !== undefined) return afterVim(state, done)
  }
  if (key.kind === 'paste') return { state: paste(state, key.text) }
  if (key.kind === 'text') return { state: typeText(state, key.text) }
  return press(state, key.chord, commands)
}

/** Updates the history; the draft is unchanged. */
export function withHistory(state: EditorState, history: readonly string[]): EditorState {
  const isNew = state.at === state.history.length
  return { ...state, history, at: isNew ? history.length : state.at }
}

/** Puts text that could not be sent before the current draft. */
export function giveBack(state: EditorState, text: string): EditorState {
  const gap = text === '' ? '' : '\n'
  const rest = state.draft.text === '' ? '' : `${gap}${state.draft.text}`
  return edit(state, { text: text + rest, cursor: text.length + rest.length }, 'other')
}

/** Replaces the draft, for example by a completed one. */
export function replaceDraft(state: EditorState, draft: Draft): EditorState {
  return edit(state, draft, 'other')
}

/** Puts text in at the cursor, as if it were typed. */
export function insert(state: EditorState, text: string): EditorState {
  return edit(state, insertText(state.draft, withoutSigns(text, state.chips)), 'other')
}

/** Replaces everything by a text of the person, for example from an external editor. */
export function replaceAll(state: EditorState, text: string): EditorState {
  return edit(state, { text, cursor: text.length }, 'other')
}

/** Sets a draft of an earlier process, with its chips. */
export function restoreDraft(state: EditorState, draft: Draft, chips: Chips): EditorState {
  return { ...state, draft, chips, at: state.history.length, newDraft: draft, undo: NO_UNDO }
}

export function clearEditor(state: EditorState): EditorState {
  const { history, kills, vim } = state
  const chips = chipsIn(history, state.chips)
  return { ...newEditor(history, vim === undefined ? undefined : inserting(vim)), chips, kills }
}

/** The whole text of the draft. */
export function wholeText({ draft, chips }: EditorState): string {
  return expand(draft.text, chips)
}

/** Replaces the chip at the cursor, or the last one before it, by its text; `undefined` if there is none. */
export function openChip(state: EditorState): EditorState | undefined {
  const { draft, chips } = state
  const next = draft.text.slice(draft.cursor, after(draft))
  const at = chips.has(next) ? draft.cursor : lastChip(draft, chips)
  if (at === undefined) return undefined
  const sign = String.fromCodePoint(draft.text.codePointAt(at) ?? 0)
  const text = chips.get(sign) ?? ''
  const whole = draft.text.slice(0, at) + text + draft.text.slice(at + sign.length)
  return edit(state, { text: whole, cursor: at }, 'other')
}

function lastChip({ text, cursor }: Draft, chips: Chips): number | undefined {
  const places = [...chips.keys()].map((sign) => text.lastIndexOf(sign, cursor))
  const last = Math.max(-1, ...places)
  return last === -1 ? undefined : last
}

function inserting(vim: VimState): VimState {
  return { ...vim, mode: 'insert', keys: '' }
}

function press(state: EditorState, chord: string, commands: readonly string[]): EditResult {
  const { draft } = state
  const motion = MOTIONS[chord]
  if (motion !== undefined) return { state: move(state, moveTo(draft, motion(draft))) }
  const deletion = DELETIONS[chord]
  if (deletion !== undefined)
    return { state: edit(state, deleteTo(draft, deletion(draft)), 'other') }
  const killEnd = KILLS[chord]
  if (killEnd !== undefined) return { state: kill(state, killEnd(draft)) }
  if (LINE_BREAKS.has(chord)) return { state: edit(state, insertText(draft, '\n'), 'other') }
  switch (chord) {
    case 'enter':
      return enterKey(state)
    case 'up':
    case 'ctrl-p':
      return { state: upOrDown(state, 'up') }
    case 'down':
    case 'ctrl-n':
      return { state: upOrDown(state, 'down') }
    case 'tab':
      return { state: completeCommand(state, commands) }
    case 'ctrl-y':
      return { state: yank(state) }
    case 'alt-y':
      return { state: state.last === 'yank' ? yankEarlier(state) : state }
    case 'ctrl-_':
    case 'alt-u':
      return { state: step(state, undo) }
    case 'alt-_':
    case 'alt-e':
      return { state: step(state, redo) }
    default:
      return { state }
  }
}

function typeText(state: EditorState, text: string): EditorState {
  const { draft, chips, last } = state
  const next = insertText(draft, withoutSigns(text, chips))
  // A step of undo is a word with the spaces after it.
  const starts =
    last !== 'letter' || (/\S/.test(text) && /\s$/.test(draft.text.slice(0, draft.cursor)))
  return starts ? edit(state, next, 'letter') : { ...state, draft: next, last: 'letter' }
}

function paste(state: EditorState, pasted: string): EditorState {
  const text = withoutSigns(pasted, state.chips)
  const chip = isLong(text) ? addChip(state.chips, text) : undefined
  if (chip === undefined) return edit(state, insertText(state.draft, text), 'other')
  const withChip = { ...state, chips: chip.chips }
  return edit(withChip, insertText(state.draft, chip.sign), 'other')
}

function kill(state: EditorState, to: number): EditorState {
  const { draft, last, kills } = state
  const way = to < draft.cursor ? 'before' : 'after'
  const isInRow = last === 'kill-before' || last === 'kill-after'
  const text = draft.text.slice(Math.min(to, draft.cursor), Math.max(to, draft.cursor))
  const ring = addKill(kills, text, isInRow ? way : 'new')
  return { ...edit(state, deleteTo(draft, to), `kill-${way}`), kills: ring }
}

function yank(state: EditorState): EditorState {
  const next = insertText(state.draft, latestKill(state.kills))
  return { ...edit(state, next, 'yank'), kills: fromLatest(state.kills) }
}

function yankEarlier(state: EditorState): EditorState {
  const { kills, draft } = state
  const { length } = kills.texts[kills.at] ?? ''
  const { ring, text } = earlierKill(kills)
  const without = deleteTo(draft, draft.cursor - length)
  return { ...edit(state, insertText(without, text), 'yank'), kills: ring }
}

function step(state: EditorState, way: typeof undo): EditorState {
  const done = way(state.undo, state.draft)
  if (done === undefined) return state
  return { ...state, draft: done.draft, undo: done.stack, last: 'other' }
}

function afterVim(state: EditorState, done: NonNullable<ReturnType<typeof vimKey>>): EditResult {
  const { vim, draft = state.draft } = done
  const withMode = { ...state, vim }
  switch (done.does) {
    case 'undo':
      return { state: step(withMode, undo) }
    case 'redo':
      return { state: step(withMode, redo) }
    case 'submit':
      return enterKey(withMode)
    case 'up':
    case 'down':
      return { state: upOrDown(withMode, done.does) }
    case undefined:
      return {
        state:
          draft.text === state.draft.text ? move(withMode, draft) : edit(withMode, draft, 'other'),
      }
  }
}

function enterKey(state: EditorState): EditResult {
  const { text, cursor } = state.draft
  if (text.endsWith('\\') && cursor === text.length) {
    const line = `${text.slice(0, -1)}\n`
    return { state: edit(state, { text: line, cursor: line.length }, 'other') }
  }
  if (text.trim() === '') return { state: clearEditor(state) }
  return { state: clearEditor(state), submit: wholeText(state) }
}

function upOrDown(state: EditorState, way: 'up' | 'down'): EditorState {
  const within = inOtherLine(state.draft, way)
  if (within !== undefined) return move(state, within)
  const at = state.at + (way === 'up' ? -1 : 1)
  if (at < 0 || at > state.history.length) return state
  const newDraft = state.at === state.history.length ? state.draft : state.newDraft
  const text = state.history[at] ?? ''
  const draft = at === state.history.length ? newDraft : { text, cursor: text.length }
  return { ...edit(state, draft, 'other'), at, newDraft }
}

/** Completes to the longest common prefix of the matching commands. */
function completeCommand(state: EditorState, commands: readonly string[]): EditorState {
  const { text, cursor } = state.draft
  if (!/^\/\S*$/.test(text) || cursor !== text.length) return state
  const fitting = commands.map((name) => `/${name}`).filter((name) => name.startsWith(text))
  const [first, ...others] = fitting
  if (first === undefined) return state
  let common = first
  for (const other of others) {
    while (!other.startsWith(common)) common = common.slice(0, -1)
  }
  const line = others.length === 0 ? `${first} ` : common
  return edit(state, { text: line, cursor: line.length }, 'other')
}

function move(state: EditorState, draft: Draft): EditorState {
  return { ...state, draft, last: 'other' }
}

/** A key that only moves the cursor adds nothing to undo. */
function edit(state: EditorState, draft: Draft, last: LastKey): EditorState {
  if (draft.text === state.draft.text) return { ...state, draft, last }
  return { ...state, draft, undo: remember(state.undo, state.draft), last }
}
