import { quote, shorten } from '../../encoding/quote.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import {
  isRemoteProvider,
  OFFLINE_PROVIDER,
  REMOTE_PROVIDERS,
} from '../../model/remote-providers.ts'
import type { Settings } from '../../model/settings.ts'
import { nonEmptyValue, USE_OFFLINE } from './credentials.ts'

/** The provider of a new Session, and why it was chosen. */
export interface ChosenProvider {
  readonly provider: string
  /** `key`: not named, but its key or the URL of its server is configured. */
  readonly because: 'option' | 'environment' | 'settings' | 'key' | 'nothing_else'
}

export interface ProviderChoice extends ChosenProvider {
  readonly model: string
}

interface ProviderChoiceOptions {
  /** The provider from the command line. */
  readonly provider?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly settings: Settings
}

export interface ChoiceOptions extends ProviderChoiceOptions {
  readonly model?: string | undefined
  /** The default model of a provider. */
  readonly defaultOf: (provider: string) => string | undefined
}

/**
 * Chooses the provider and its model: the one passed, else the one in the settings, else the provider's default. The model
 * of the settings applies only to the provider that they select. Pure.
 */
export function chooseProvider(options: ChoiceOptions): Result<ProviderChoice> {
  const { model, settings, defaultOf } = options
  const chosen = providerOf(options)
  const { provider } = chosen
  const usual = automaticProvider(options)
  const belongs = provider === usual.provider && usual.because !== 'nothing_else'
  const offline = provider === OFFLINE_PROVIDER ? OFFLINE_PROVIDER : undefined
  const found = model ?? (belongs ? settings.model : undefined) ?? offline ?? defaultOf(provider)
  return found === undefined ? noModel(provider) : ok({ ...chosen, model: found })
}

/** The provider that was passed, then `HAWSER_PROVIDER`, then the one that settings and keys select. Pure. */
export function providerOf({ provider, env, settings }: ProviderChoiceOptions): ChosenProvider {
  const passed = nonEmptyValue(provider)
  if (passed !== undefined) return { provider: passed, because: 'option' }
  const named = nonEmptyValue(env['HAWSER_PROVIDER'])
  if (named !== undefined) return { provider: named, because: 'environment' }
  return automaticProvider({ env, settings })
}

/** The provider of the settings, then the first one with a key, then the offline one. */
function automaticProvider({ env, settings }: ProviderChoiceOptions): ChosenProvider {
  const set = nonEmptyValue(settings.provider)
  if (set !== undefined) return { provider: set, because: 'settings' }
  const keyed = keyedInEnvironment(env) ?? keyedInSettings(settings)
  return keyed === undefined
    ? { provider: OFFLINE_PROVIDER, because: 'nothing_else' }
    : { provider: keyed, because: 'key' }
}

function keyedInEnvironment(env: ProviderChoiceOptions['env']): string | undefined {
  const all = Object.entries(REMOTE_PROVIDERS)
  return all.find(([, { key_variable }]) => nonEmptyValue(env[key_variable]) !== undefined)?.[0]
}

/** A server that may need no key counts if its URL is set. */
function keyedInSettings({ providers = {} }: Settings): string | undefined {
  const all = Object.entries(REMOTE_PROVIDERS)
  return all.find(([name, { any_server }]) => {
    const entry = isRemoteProvider(name) ? providers[name] : undefined
    return nonEmptyValue(any_server ? entry?.base_url : entry?.key) !== undefined
  })?.[0]
}

/** Fails if there is no such provider. */
export function checkedProvider(provider: string): Result<undefined> {
  const known = [...Object.keys(REMOTE_PROVIDERS), OFFLINE_PROVIDER]
  if (known.includes(provider)) return ok(undefined)
  const message = `Unknown provider ${quote(shorten(provider, 80))}. Expected one of ${known.join(', ')}.`
  return failed('not_configured', message, { provider, known }, [USE_OFFLINE])
}

function noModel(provider: string): Failed {
  const checked = checkedProvider(provider)
  if (!checked.ok) return checked
  const named = quote(shorten(provider, 80))
  const message = `Provider ${named} has no default model: pass --model.`
  return failed('not_configured', message, { provider }, [
    { action: 'Pass a model with --model.' },
    { action: 'Store a default model.', command: 'hawser config set model MODEL' },
    USE_OFFLINE,
  ])
}
