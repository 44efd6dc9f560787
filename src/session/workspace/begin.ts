import { failed, ok, type Result } from '../../model/errors.ts'
import type { PermissionMode, SessionMode } from '../../model/modes.ts'
import type { Effort } from '../../model/settings.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { AttachOptions } from '../admission/attach-options.ts'
import type { Session } from '../session.ts'
import { chooseProvider } from '../settings/choice.ts'
import { judgeModel, type NamedModel } from '../settings/model-choice.ts'
import type { SettingsChange } from '../admission/settings-change.ts'
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
  readonly effort?: Effort | undefined
  /** Instructions for the model that the Session keeps, also a continued one. Only from a person, never from a workspace. */
  readonly appendInstructions?: readonly string[] | undefined
}

export interface OpenedSession {
  readonly session: Session
  /** No model was chosen, so the offline one is used. */
  readonly byDefault: boolean
  /** A warning about the named model. */
  readonly warning?: string | undefined
}

export interface BeginOptions extends AttachOptions {
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
  if (changed.ok) return ok({ session: session.value, byDefault: false, warning: changed.value })
  await session.value.detach()
  return changed
}

/** Choices for a continued Session apply from its next Turn. If one is refused, none is recorded. */
async function changeSession(
  { defaultModel, models }: OpenWorkspace,
  session: Session,
  choice: SessionChoice,
): Promise<Result<string | undefined>> {
  const chosen = chosenModel(session, choice, defaultModel)
  if (!chosen.ok) return chosen
  const { value: model } = chosen
  const judged = model === undefined ? ok(undefined) : judgeModel(model, models())
  if (!judged.ok) return judged
  const change = newSettings(session, choice, model)
  const set = await session.change(change)
  return set.ok ? judged : set
}

/** What is set already is left out: a Session that another process writes can be opened as long as nothing changes. */
function newSettings(
  { state }: Session,
  { mode, permission, effort, appendInstructions = [] }: SessionChoice,
  model: NamedModel | undefined,
): SettingsChange {
  const isModel = model?.provider === state.provider && model.model === state.model
  return {
    ...(mode === undefined || mode === state.mode ? {} : { mode }),
    ...(permission === undefined || permission === state.permission_mode
      ? {}
      : { permission_mode: permission }),
    ...(model === undefined || isModel ? {} : { model }),
    ...(effort === undefined || effort === state.effort ? {} : { effort }),
    ...(appendInstructions.length === 0 ? {} : { append_instructions: appendInstructions }),
  }
}

/** The model that was named, or the default one of the provider that was named; `undefined` if neither was. */
function chosenModel(
  { state }: Session,
  { provider, model }: SessionChoice,
  defaultModel: OpenWorkspace['defaultModel'],
): Result<NamedModel | undefined> {
  if (provider === undefined && model === undefined) return ok(undefined)
  const chosen = provider ?? state.provider
  const named = model ?? (chosen === state.provider ? state.model : defaultModel(chosen))
  return named === undefined ? noDefaultModel(chosen) : ok({ provider: chosen, model: named })
}

async function newSession(
  { harness, settings: { settings }, defaultModel, models }: OpenWorkspace,
  { provider, model, mode, permission, effort, appendInstructions }: SessionChoice,
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
    ...definedFields({ mode, effort, appendInstructions }),
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
