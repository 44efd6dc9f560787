import { SHORTEST_KEY } from '../../../encoding/redaction.ts'
import type { Failed } from '../../../model/errors.ts'
import {
  isRemoteProvider,
  OFFLINE_PROVIDER,
  REMOTE_PROVIDERS,
  type RemoteProvider,
} from '../../../model/remote-providers.ts'
import type { Settings } from '../../../model/settings.ts'
import { providerOf, type ChosenProvider } from '../../../session/settings/choice.ts'
import {
  credentialsOf,
  nonEmptyValue,
  unredactedKeys,
  USE_OFFLINE,
  type Credentials,
} from '../../../session/settings/credentials.ts'
import { visibleLine } from '../text/visible-text.ts'
import { good, problem, warning, type Check } from './check.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Which provider new Sessions use, why, and whether its key is set. Sends no request and reveals no key. */
export function providerCheck(env: Env, settings: Settings): Check {
  const chosen = providerOf({ env, settings })
  const { provider } = chosen
  const because = whyOf(chosen, env)
  if (provider === OFFLINE_PROVIDER) {
    return good('provider', `New Sessions use the offline demo model, because ${because}.`)
  }
  if (!isRemoteProvider(provider)) return unknownCheck(provider, because)
  const found = credentialsOf(provider, env, settings)
  const uses = `New Sessions use ${provider}, because ${because}`
  return found.ok
    ? foundCheck(uses, { provider, credentials: found.value, settings })
    : problemCheck(uses, found)
}

/** Warns about keys that are too short to be redacted; `undefined` if there are none. */
export function shortKeyCheck(env: Env, settings: Settings): Check | undefined {
  const names = unredactedKeys(env, settings)
  if (names.length === 0) return undefined
  const text = `Keys of fewer than ${SHORTEST_KEY} characters are not redacted in Logs and output: ${names.join(', ')}.`
  return warning('redaction', { text }, { action: 'Use longer keys.' })
}

function whyOf({ provider, because }: ChosenProvider, env: Env): string {
  switch (because) {
    case 'option':
    case 'environment':
      return 'HAWSER_PROVIDER is set'
    case 'settings':
      return 'the settings choose it'
    case 'key': {
      const variable = isRemoteProvider(provider) ? REMOTE_PROVIDERS[provider].key_variable : ''
      const inEnvironment = nonEmptyValue(env[variable]) !== undefined
      return inEnvironment ? `${variable} is set` : 'its key is in the settings'
    }
    case 'nothing_else':
      return 'no provider is chosen and no API key is set'
  }
}

interface FoundProvider {
  readonly provider: RemoteProvider
  readonly credentials: Credentials
  readonly settings: Settings
}

/** A custom URL is shown in the terminal, but not in the bundle. */
function foundCheck(uses: string, { provider, credentials, settings }: FoundProvider): Check {
  const { key_variable, url_variable, own_url } = REMOTE_PROVIDERS[provider]
  const { key, baseUrl, from } = credentials
  const where = from === 'environment' ? 'the environment' : 'the settings'
  const keys = key === undefined ? 'without a key' : `with a key from ${where}`
  const describe = (place: string) => `${uses}; at ${place}, ${keys}.`
  const both = {
    text: describe(baseUrl),
    plain: describe(baseUrl === own_url ? baseUrl : 'a custom URL'),
  }
  const stored = settings.providers?.[provider]?.base_url
  if (from === 'settings' || stored === undefined) return good('provider', both.text, both.plain)
  const unused = `providers.${provider}.base_url is ignored because ${key_variable} or ${url_variable} is set.`
  return warning(
    'provider',
    { text: `${both.text} ${unused}`, plain: `${both.plain} ${unused}` },
    { action: `Set both ${url_variable} and ${key_variable}, or unset both.` },
  )
}

function problemCheck(uses: string, { error: { message, next_actions } }: Failed): Check {
  const text = `${uses}. ${message}`
  return problem('provider', { text }, next_actions[0] ?? USE_OFFLINE)
}

function unknownCheck(provider: string, because: string): Check {
  const describe = (name: string) =>
    `Unknown provider ${name}, chosen for new Sessions because ${because}.`
  const both = { text: describe(visibleLine(provider)), plain: describe('(not shown)') }
  return problem('provider', both, USE_OFFLINE)
}
