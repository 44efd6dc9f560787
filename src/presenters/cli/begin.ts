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
  const said = choice.permission && (await session.value.setPermissionMode(choice.permission))
  if (said?.ok === false) return said
  return ok({ session: session.value, byDefault: false })
}

async function newSession(
  { env }: CliWorld,
  { harness, settings: { settings } }: Opened,
  { provider, model, mode, permission }: SessionChoice,
  toAdmit: boolean,
): Promise<Result<Begun>> {
  const chosen = chooseProvider({ provider, model, env, settings })
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

function contradiction(choice: SessionChoice): string | undefined {
  const { session, provider, model, mode } = choice
  if (session !== undefined && choice.continue === true) {
    return 'Say either --session or --continue.'
  }
  if (provider ?? model ?? mode) {
    return 'A Session keeps the provider, the model and the mode it began with. Begin a new one to change them.'
  }
  return undefined
}

export const REHEARSING =
  'hawser: no model is configured, so the rehearsal model answers. It follows rules and is no real model.\n'
