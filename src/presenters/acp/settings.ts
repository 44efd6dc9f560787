import { failed, ok, type Result } from '../../model/errors.ts'
import { PermissionMode } from '../../model/modes.ts'
import {
  isRemoteProvider,
  OFFLINE_PROVIDER,
  REMOTE_PROVIDERS,
} from '../../model/remote-providers.ts'
import { Effort } from '../../model/settings.ts'
import type { SettingsChange } from '../../session/admission/settings-change.ts'
import { credentialsOf } from '../../session/settings/credentials.ts'
import { judgeModel } from '../../session/settings/model-choice.ts'
import type { OptionValues } from './options.ts'
import type { ServedParts } from './served-parts.ts'

export type SettingParts = Pick<ServedParts, 'session' | 'holding' | 'env'>

/** The settings of a Session now, and what they can be set to. */
export function optionsOf({ session, holding, env }: SettingParts): OptionValues {
  const { provider, model, effort } = session.state
  const { workspace } = holding
  const { settings } = workspace.settings
  const usable = Object.keys(REMOTE_PROVIDERS).filter(
    (name) => isRemoteProvider(name) && credentialsOf(name, env, settings).ok,
  )
  return {
    permissionMode: session.permissionMode,
    provider,
    model,
    effort,
    providers: [...usable, OFFLINE_PROVIDER],
    models: workspace.models(),
  }
}

/** The change that a client asks for, by the id of an option. */
export function changeOf(
  parts: SettingParts,
  configId: string,
  value: string | boolean,
): Result<SettingsChange> {
  const text = String(value)
  switch (configId) {
    case 'mode':
      return modeChange(text)
    case 'provider':
      return providerChange(parts, text)
    case 'model':
      return modelChange(parts, { provider: parts.session.state.provider, model: text })
    case 'effort': {
      const effort = Effort.safeParse(text)
      return effort.success ? ok({ effort: effort.data }) : unknownValue('effort', Effort.options)
    }
    default:
      return unknownValue('option', ['mode', 'provider', 'model', 'effort'])
  }
}

export function modeChange(modeId: string): Result<SettingsChange> {
  const mode = PermissionMode.safeParse(modeId)
  return mode.success
    ? ok({ permission_mode: mode.data })
    : unknownValue('mode', PermissionMode.options)
}

/** With the default model of that provider. */
function providerChange(parts: SettingParts, provider: string): Result<SettingsChange> {
  const { providers } = optionsOf(parts)
  if (!providers.includes(provider)) return unknownValue('provider', providers)
  if (provider === parts.session.state.provider) return ok({})
  const usual = parts.holding.workspace.defaultModel(provider)
  const model = provider === OFFLINE_PROVIDER ? OFFLINE_PROVIDER : usual
  if (model !== undefined) return ok({ model: { provider, model } })
  return failed('not_configured', `Provider ${provider} has no default model.`, { provider }, [
    { action: 'Store a default model.', command: 'hawser config set model MODEL' },
  ])
}

function modelChange(
  { holding: { workspace } }: SettingParts,
  chosen: { readonly provider: string; readonly model: string },
): Result<SettingsChange> {
  const judged = judgeModel(chosen, workspace.models())
  return judged.ok ? ok({ model: chosen }) : judged
}

function unknownValue(what: string, known: readonly string[]): Result<never> {
  return failed('invalid_args', `Unknown ${what}. Expected one of ${known.join(', ')}.`, { known })
}
