import type { Draft } from './draft.ts'

/** Earlier drafts, and those that undo took away; the nearest last. */
export interface UndoStack {
  readonly past: readonly Draft[]
  readonly future: readonly Draft[]
}

export const NO_UNDO: UndoStack = { past: [], future: [] }

const MOST_STEPS = 500

/** Remembers the draft before an edit. Whatever was undone before it cannot be redone any more. */
export function remember({ past }: UndoStack, draft: Draft): UndoStack {
  return { past: [...past.slice(1 - MOST_STEPS), draft], future: [] }
}

/** The draft before the last edit; `undefined` if there is none. */
export function undo(stack: UndoStack, draft: Draft): UndoStep | undefined {
  const back = stack.past.at(-1)
  if (back === undefined) return undefined
  return {
    draft: back,
    stack: { past: stack.past.slice(0, -1), future: [...stack.future, draft] },
  }
}

/** The draft that the last undo took away; `undefined` if there is none. */
export function redo(stack: UndoStack, draft: Draft): UndoStep | undefined {
  const again = stack.future.at(-1)
  if (again === undefined) return undefined
  return {
    draft: again,
    stack: { past: [...stack.past, draft], future: stack.future.slice(0, -1) },
  }
}

interface UndoStep {
  readonly draft: Draft
  readonly stack: UndoStack
}
