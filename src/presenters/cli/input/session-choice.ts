import { failed, ok, type Result } from '../../../model/errors.ts'
import type { SESSION_OPTIONS } from '../definitions/turns.ts'
import type { OptionInput } from '../world/command.ts'
import type { Session } from '../../../session/session.ts'

/** The options that select a Session to continue, or configure a new one. */
export type SessionOptions = Omit<OptionInput<(typeof SESSION_OPTIONS)[number]>, 'workspace'>

/** The Session that the options choose. Fails if they contradict each other. */
export function oneSession<T extends SessionOptions>(choice: T): Result<T> {
  const { session, resume } = choice
  const nameless = (['provider', 'model'] as const).find((option) => choice[option] === '')
  if (nameless !== undefined) return failed('invalid_args', `--${nameless} requires a name.`)
  const chosen = [session, resume, choice.continue || undefined]
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
  return session !== undefined || resume !== undefined || choice.continue
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
