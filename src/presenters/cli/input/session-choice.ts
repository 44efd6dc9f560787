import * as z from 'zod'
import { PermissionMode, SessionMode } from '../../../model/modes.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import type { Session } from '../../../session/live/session.ts'

/** The options that select a Session to continue, or configure a new one. */
export const SessionOptions = z.object({
  session: z.string().optional(),
  continue: z.boolean().optional(),
  provider: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  mode: SessionMode.optional(),
  permission: PermissionMode.optional(),
})
export type SessionOptions = z.infer<typeof SessionOptions>

/** Fails if the options contradict each other. */
export function oneSession<T extends SessionOptions>(choice: T): Result<T> {
  return choice.session !== undefined && choice.continue === true
    ? failed('invalid_args', 'Pass either --session or --continue, not both.')
    : ok(choice)
}

/** A warning when `--permission` allows more than plan mode does. */
export function limitedByPlan(
  { state }: Session,
  { permission }: Pick<SessionOptions, 'permission'>,
): string | undefined {
  if (state.mode !== 'plan' || permission === undefined || permission === 'read-only')
    return undefined
  return `plan mode limits this Session to read-only; --permission ${permission} takes effect with --mode build.`
}

/** In two lines, so that no variable name is broken at 80 columns. */
export const REHEARSING = `hawser: No API key found: using the offline demo model. For a real one:
export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=… (see hawser models)
`
