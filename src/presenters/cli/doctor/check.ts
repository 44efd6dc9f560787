import type { NextAction } from '../../../model/errors.ts'
import type { ApplyingInstructions } from '../../../session/queries/applying-instructions.ts'

export type Status = 'ok' | 'warning' | 'problem'

/** The result of one check. A warning means that something is missing; a problem, that Hawser cannot work. */
export interface Check {
  readonly id: string
  readonly status: Status
  /** For the person at this machine; may contain paths, keys and Sessions. */
  readonly text: string
  /** The same for pasting elsewhere: without paths or user-chosen names. */
  readonly plain: string
  readonly next_actions: readonly NextAction[]
  /** What the sandbox prevents, and what it does not. */
  readonly holds?: readonly string[]
  readonly does_not_hold?: readonly string[]
  /** The project instructions that apply in this folder. */
  readonly instructions?: readonly ApplyingInstructions[]
}

export function good(id: string, text: string, plain = text): Check {
  return { id, status: 'ok', text, plain, next_actions: [] }
}

export function warning(
  id: string,
  description: { readonly text: string; readonly plain?: string },
  next: NextAction,
): Check {
  return { id, status: 'warning', plain: description.text, ...description, next_actions: [next] }
}

export function problem(
  id: string,
  description: { readonly text: string; readonly plain?: string },
  next: NextAction,
): Check {
  return { id, status: 'problem', plain: description.text, ...description, next_actions: [next] }
}
