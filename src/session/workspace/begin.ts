import { failed, ok, type Result } from '../../model/errors.ts'
import type { PermissionMode, SessionMode } from '../../model/modes.ts'
import type { ClientOptions, Session } from '../live/session.ts'
import { chooseProvider } from '../settings/choice.ts'
import { judgeModel } from '../settings/model-choice.ts'
import { openNamed } from './session-reference.ts'
import type { OpenWorkspace } from './workspace.ts'

/** Which Session to continue, or how to create one. */
export interface SessionChoice {
  /** Its id, the end of its id, or `latest`. */
  readonly session?: string | undefined
  /** Continue the most recently written Session; excludes `session`. */
  readonly continue?: boolean | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly mode?: SessionMode | undefined
  readonly permission?: PermissionMode | undefined
}

export interface OpenedSession {
  readonly session: Session
  /** No model was chosen, so the offline one is used. */
  readonly byDefault: boolean
  /** A warning about the named model. */
  readonly warning?: string | undefined
}

export interface BeginOptions extends ClientOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** A Turn follows immediately: a new Session keeps its lock for it. */
  readonly toAdmit?: boolean
}

/** Opens the named Session or creates one. A mode that is chosen here applies even if it widens the recorded one. */
export async function beginSession(
  workspace: OpenWorkspace,
  choice: SessionChoice,
  options: BeginOptions,
): Promise<Result<OpenedSession>> {
  if (choice.session === undefined && choice.continue !== true) {
    return newSession(workspace, choice, options)
  }
  const { harness } = workspace
  const session =
    choice.session === undefined
      ? await harness.latest(options)
      : await openNamed(harness, choice.session, options)
  if (!session.ok) return session
  const changed = await changeSession(workspace, session.value, choice)
  return changed.ok
    ? ok({ session: session.value, byDefault: false, warning: changed.value })
    : changed
}

/** Choices for a continued Session apply from its next Turn. */
async function changeSession(
  { defaultModel, models }: OpenWorkspace,
  session: Session,
  { provider, model, mode, permission }: SessionChoice,
): Promise<Result<string | undefined>> {
  const posture = await session.change({
    ...(mode === undefined ? {} : { mode }),
    ...(permission === undefined ? {} : { permission_mode: permission }),
  })
  if (!posture.ok) return posture
  if (provider === undefined && model === undefined) return ok(undefined)
  const chosen = provider ?? session.state.provider
  const same = chosen === session.state.provider
  const named = model ?? (same ? session.state.model : defaultModel(chosen))
  if (named === undefined) return noDefaultModel(chosen)
  const choice = { provider: chosen, model: named }
  const judged = judgeModel(choice, models())
  if (!judged.ok) return judged
  const set = await session.change({ model: choice })
  return set.ok ? judged : set
}

async function newSession(
  { harness, settings: { settings }, defaultModel, models }: OpenWorkspace,
  { provider, model, mode, permission }: SessionChoice,
  { env, ...client }: BeginOptions,
): Promise<Result<OpenedSession>> {
  const choice = chooseProvider({ provider, model, env, settings, defaultOf: defaultModel })
  if (!choice.ok) return choice
  const chosen = choice.value
  // Only a model that is named here is checked; the model in the settings was checked when it was set.
  const judged = model === undefined ? ok(undefined) : judgeModel(chosen, models())
  if (!judged.ok) return judged
  const options = {
    provider: chosen.provider,
    model: chosen.model,
    permissionMode: permission ?? settings.permission ?? 'ask',
    ...(mode === undefined ? {} : { mode }),
  }
  const session = await harness.create(options, client)
  if (!session.ok) return session
  const byDefault = chosen.because === 'nothing_else'
  return ok({ session: session.value, byDefault, warning: judged.value })
}

function noDefaultModel(provider: string): Result<never> {
  const message = `Provider "${provider}" has no default model: pass --model.`
  return failed('invalid_args', message, { provider }, [
    { action: 'List the known models.', command: 'hawser models' },
  ])
}
