import type { Settings } from '../model/settings.ts'

/** Which model backend a new Session gets, and why. */
export interface ProviderChoice {
  readonly provider: string
  readonly model: string
  readonly because: 'said' | 'environment' | 'settings' | 'nothing_else'
}

export interface ChoiceOptions {
  /** What a person said on this occasion. */
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly settings: Settings
}

/** Said here, then `HAWSER_PROVIDER`, then settings, then the model that needs nothing. Pure. */
export function chooseProvider({ provider, model, env, settings }: ChoiceOptions): ProviderChoice {
  const candidates = [
    { name: provider, because: 'said' },
    { name: env['HAWSER_PROVIDER'], because: 'environment' },
    { name: settings.provider, because: 'settings' },
  ] as const
  const found = candidates.find(({ name }) => name !== undefined && name !== '')
  const name = found?.name ?? 'rehearsal'
  const because = found?.because ?? 'nothing_else'
  return { provider: name, model: model ?? settings.model ?? name, because }
}
