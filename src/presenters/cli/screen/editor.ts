import { EDITS, EMPTY_DRAFT, inOtherLine, insertText, type Draft } from './draft.ts'
import type { Key } from './keys.ts'

/** The input of a chat: a draft, and earlier messages, which can be recalled and edited. */
export interface EditorState {
  readonly draft: Draft
  /** The latest last. */
  readonly history: readonly string[]
  /** The index in `history` of the recalled message; its length for a new draft. */
  readonly at: number
  /** The new draft, kept while a message of `history` is shown. */
  readonly kept: Draft
}

export interface EditResult {
  readonly state: EditorState
  /** The text to send. Never blank. */
  readonly submit?: string
}

export function newEditor(history: readonly string[]): EditorState {
  return { draft: EMPTY_DRAFT, history, at: history.length, kept: EMPTY_DRAFT }
}

/** Applies one key. Unknown keys change nothing. Tab completes `commands`. */
export function apply(state: EditorState, key: Key, commands: readonly string[]): EditResult {
  if (key.kind !== 'press') return { state: withDraft(state, insertText(state.draft, key.text)) }
  const edit = EDITS[key.chord]
  if (edit !== undefined) return { state: withDraft(state, edit(state.draft)) }
  switch (key.chord) {
    case 'enter':
      return entered(state)
    case 'up':
    case 'ctrl-p':
      return { state: upOrDown(state, 'up') }
    case 'down':
    case 'ctrl-n':
      return { state: upOrDown(state, 'down') }
    case 'tab':
      return { state: completed(state, commands) }
    default:
      return { state }
  }
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
  return withDraft(state, { text: text + rest, cursor: text.length + rest.length })
}

/** Replaces the draft, for example by a completed one. */
export function replaceDraft(state: EditorState, draft: Draft): EditorState {
  return withDraft(state, draft)
}

export function clearEditor(state: EditorState): EditorState {
  return newEditor(state.history)
}

function entered(state: EditorState): EditResult {
  const { text, cursor } = state.draft
  if (text.endsWith('\\') && cursor === text.length) {
    const line = `${text.slice(0, -1)}\n`
    return { state: withDraft(state, { text: line, cursor: line.length }) }
  }
  if (text.trim() === '') return { state: clearEditor(state) }
  return { state: clearEditor(state), submit: text }
}

function upOrDown(state: EditorState, way: 'up' | 'down'): EditorState {
  const within = inOtherLine(state.draft, way)
  if (within !== undefined) return withDraft(state, within)
  const at = state.at + (way === 'up' ? -1 : 1)
  if (at < 0 || at > state.history.length) return state
  const kept = state.at === state.history.length ? state.draft : state.kept
  if (at === state.history.length) return { ...state, at, draft: kept, kept }
  const text = state.history[at] ?? ''
  return { ...state, at, kept, draft: { text, cursor: text.length } }
}

/** Completes to the longest common prefix of the matching commands. */
function completed(state: EditorState, commands: readonly string[]): EditorState {
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
  return withDraft(state, { text: line, cursor: line.length })
}

function withDraft(state: EditorState, draft: Draft): EditorState {
  return { ...state, draft }
}
