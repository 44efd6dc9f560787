import * as z from 'zod'
import { PermissionMode, SessionMode } from '../../../model/modes.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import type { Session } from '../../../session/session.ts'

/** The options that select a Session to continue, or configure a new one. */
export const SessionOptions = z.object({
  session: z.string().optional(),
  continue: z.boolean().optional(),
  /** True: the person chooses one. */
  resume: z.union([z.string(), z.literal(true)]).optional(),
  provider: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  mode: SessionMode.optional(),
  permission: PermissionMode.optional(),
})
export type SessionOptions = z.infer<typeof SessionOptions>

/** The Session that the options choose. Fails if they contradict each other. */
export function oneSession<T extends SessionOptions>(choice: T): Result<T> {
  const { session, resume } = choice
  const chosen = [session, resume, choice.continue === true ? true : undefined]
  if (chosen.filter((one) => one !== undefined).length > 1)
    return failed('invalid_args', 'Pass only one of --session, --continue and --resume.')
  if (resume === undefined) return ok(choice)
  if (resume !== true) return ok({ ...choice, session: resume })
  return failed('invalid_args', '--resume requires the id of a Session here.', {}, [
    { action: 'List the Sessions.', command: 'hawser sessions' },
    { action: 'Continue the most recent one.', command: 'hawser run --continue "And now?"' },
  ])
}

/** The options choose an existing Session. */
export function isContinued({ session, resume, ...choice }: SessionOptions): boolean {
  return session !== undefined || resume !== undefined || choice.continue === true
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
