import * as z from 'zod'
import { failed, ok, type Result } from '../../model/errors.ts'
import { chooseProvider } from '../../session/choice.ts'
import type { Session } from '../../session/session.ts'
import { openNamed } from './session-reference.ts'
import type { CliWorld, Opened } from './world.ts'

/** How a person says which Session goes on, or how a new one begins. */
export const SessionChoice = z.object({
  session: z.string().optional(),
  continue: z.boolean().optional(),
  provider: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  mode: z.enum(['build', 'plan']).optional(),
  permission: z.enum(['read-only', 'ask', 'auto']).optional(),
})
export type SessionChoice = z.infer<typeof SessionChoice>

export interface Begun {
  readonly session: Session
  /** Nobody chose a model, so the one that needs nothing was taken. */
  readonly byDefault: boolean
}

/** Opens the Session that was meant, or begins one, `toAdmit` a Turn at once. A mode that is said here counts, also where it widens. */
export async function beginSession(
  world: CliWorld,
  opened: Opened,
  choice: SessionChoice,
  { toAdmit = false }: { readonly toAdmit?: boolean } = {},
): Promise<Result<Begun>> {
  if (choice.session === undefined && choice.continue !== true) {
    return newSession(world, opened, choice, toAdmit)
  }
  const wrong = contradiction(choice)
  if (wrong !== undefined) return failed('invalid_args', wrong)
  const { harness } = opened
  const session =
    choice.session === undefined ? await harness.latest() : await openNamed(harness, choice.session)
  if (!session.ok) return session
  const said = await sayAgain(opened, session.value, choice)
  return said.ok ? ok({ session: session.value, byDefault: false }) : said
}

/** What is said of a Session that goes on counts from its next Turn. */
async function sayAgain(
  { defaultModel }: Opened,
  session: Session,
  { provider, model, mode, permission }: SessionChoice,
): Promise<Result<void>> {
  const said = await session.setPosture({
    ...(mode === undefined ? {} : { mode }),
    ...(permission === undefined ? {} : { permission_mode: permission }),
  })
  if (!said.ok) return said
  if (provider === undefined && model === undefined) return ok(undefined)
  const chosen = provider ?? session.state.provider
  const same = chosen === session.state.provider
  const named = model ?? (same ? session.state.model : defaultModel(chosen))
  if (named !== undefined) return session.setModel({ provider: chosen, model: named })
  return failed('invalid_args', 'Which model of that provider is not known: say --model.', {}, [
    { action: 'See which models are known.', command: 'hawser models' },
  ])
}

async function newSession(
  { env }: CliWorld,
  { harness, settings: { settings }, defaultModel }: Opened,
  { provider, model, mode, permission }: SessionChoice,
  toAdmit: boolean,
): Promise<Result<Begun>> {
  const choice = chooseProvider({ provider, model, env, settings, defaultOf: defaultModel })
  if (!choice.ok) return choice
  const chosen = choice.value
  const begun = {
    provider: chosen.provider,
    model: chosen.model,
    permissionMode: permission ?? settings.permission ?? 'ask',
    ...(mode === undefined ? {} : { mode }),
  }
  const session = await harness.create(begun, { toAdmit })
  if (!session.ok) return session
  return ok({ session: session.value, byDefault: chosen.because === 'nothing_else' })
}

function contradiction({ session, continue: latest }: SessionChoice): string | undefined {
  return session !== undefined && latest === true
    ? 'Say either --session or --continue.'
    : undefined
}

/** What a person should know who allowed more than the mode of the Session lets through. */
export function limitedByPlan(
  { state }: Session,
  { permission }: Pick<SessionChoice, 'permission'>,
): string | undefined {
  if (state.mode !== 'plan' || permission === undefined || permission === 'read-only')
    return undefined
  return `plan mode limits this Session to read-only; --permission ${permission} takes effect with --mode build.`
}

export const REHEARSING =
  'hawser: no model is configured, so the rehearsal model answers. It follows rules and is no real model.\n'
