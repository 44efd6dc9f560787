import * as z from 'zod'
import { failed, ok, type Result } from '../../../model/errors.ts'
import type { Settings } from '../../../model/settings.ts'
import { chooseProvider } from '../../../session/settings/choice.ts'
import type { Session } from '../../../session/live/session.ts'
import { judgeModel, type NamedModel } from './model-choice.ts'
import { openNamed } from './session-reference.ts'
import type { CliWorld, Opened } from '../world/world.ts'

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
  /** What a person should know about the model they named. */
  readonly warning?: string | undefined
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
  const said = await sayAgain(world, opened, session.value, choice)
  return said.ok ? ok({ session: session.value, byDefault: false, warning: said.value }) : said
}

/** What is said of a Session that goes on counts from its next Turn. */
async function sayAgain(
  world: CliWorld,
  { defaultModel, settings }: Opened,
  session: Session,
  { provider, model, mode, permission }: SessionChoice,
): Promise<Result<string | undefined>> {
  const said = await session.setPosture({
    ...(mode === undefined ? {} : { mode }),
    ...(permission === undefined ? {} : { permission_mode: permission }),
  })
  if (!said.ok) return said
  if (provider === undefined && model === undefined) return ok(undefined)
  const chosen = provider ?? session.state.provider
  const same = chosen === session.state.provider
  const named = model ?? (same ? session.state.model : defaultModel(chosen))
  if (named !== undefined) {
    const wanted = { provider: chosen, model: named }
    const judged = await modelJudged(world, settings.settings, wanted)
    if (!judged.ok) return judged
    const set = await session.setModel(wanted)
    return set.ok ? judged : set
  }
  return failed('invalid_args', 'Which model of that provider is not known: say --model.', {}, [
    { action: 'See which models are known.', command: 'hawser models' },
  ])
}

/** Only a model that is named here is judged: one of the settings was judged when it was set. */
export async function modelJudged(
  { models }: Pick<CliWorld, 'models'>,
  settings: Settings,
  named: NamedModel,
): Promise<Result<string | undefined>> {
  const { rows } = await models(settings.models ?? {})
  return judgeModel(named, rows())
}

async function newSession(
  world: CliWorld,
  { harness, settings: { settings }, defaultModel }: Opened,
  { provider, model, mode, permission }: SessionChoice,
  toAdmit: boolean,
): Promise<Result<Begun>> {
  const { env } = world
  const choice = chooseProvider({ provider, model, env, settings, defaultOf: defaultModel })
  if (!choice.ok) return choice
  const chosen = choice.value
  const judged = model === undefined ? ok(undefined) : await modelJudged(world, settings, chosen)
  if (!judged.ok) return judged
  const begun = {
    provider: chosen.provider,
    model: chosen.model,
    permissionMode: permission ?? settings.permission ?? 'ask',
    ...(mode === undefined ? {} : { mode }),
  }
  const session = await harness.create(begun, { toAdmit })
  if (!session.ok) return session
  const byDefault = chosen.because === 'nothing_else'
  return ok({ session: session.value, byDefault, warning: judged.value })
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
