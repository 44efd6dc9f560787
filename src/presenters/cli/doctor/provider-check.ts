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
  saidIn,
  unredactedKeys,
  USE_OFFLINE,
  type Credentials,
} from '../../../session/settings/credentials.ts'
import { visibleLine } from '../text/visible-text.ts'
import { good, problem, warning, type Check } from './check.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Which provider new Sessions get, why, and whether its key is there. Nobody is called, and no key is told. */
export function providerCheck(env: Env, settings: Settings): Check {
  const chosen = providerOf({ env, settings })
  const { provider } = chosen
  const because = whyOf(chosen, env)
  if (provider === OFFLINE_PROVIDER) {
    return good('provider', `New Sessions use the offline rehearsal model, because ${because}.`)
  }
  if (!isRemoteProvider(provider)) return unknownCheck(provider, because)
  const found = credentialsOf(provider, env, settings)
  const uses = `New Sessions use ${provider}, because ${because}`
  return found.ok
    ? foundCheck(uses, { provider, found: found.value, settings })
    : problemCheck(uses, found)
}

/** A key that is too short to be redacted; `undefined` where there is none. */
export function shortKeyCheck(env: Env, settings: Settings): Check | undefined {
  const names = unredactedKeys(env, settings)
  if (names.length === 0) return undefined
  const text = `Keys of fewer than ${SHORTEST_KEY} characters are not redacted in Logs and output: ${names.join(', ')}.`
  return warning('redaction', { text }, { action: 'Use longer keys.' })
}

function whyOf({ provider, because }: ChosenProvider, env: Env): string {
  switch (because) {
    case 'said':
    case 'environment':
      return 'HAWSER_PROVIDER says so'
    case 'settings':
      return 'the settings say so'
    case 'key': {
      const variable = isRemoteProvider(provider) ? REMOTE_PROVIDERS[provider].key_variable : ''
      const inEnvironment = saidIn(env[variable]) !== undefined
      return inEnvironment ? `${variable} is set` : 'the settings hold what it needs'
    }
    case 'nothing_else':
      return 'no other is chosen and no key is set'
  }
}

interface Found {
  readonly provider: RemoteProvider
  readonly found: Credentials
  readonly settings: Settings
}

/** A place that somebody chose is told to the person here and to nobody else. */
function foundCheck(uses: string, { provider, found, settings }: Found): Check {
  const { key_variable, url_variable, own_url } = REMOTE_PROVIDERS[provider]
  const { key, baseUrl, from } = found
  const where = from === 'environment' ? 'the environment' : 'the settings'
  const keys = key === undefined ? 'without a key' : `with a key from ${where}`
  const said = (place: string) => `${uses}; it is reached at ${place}, ${keys}.`
  const both = {
    text: said(baseUrl),
    plain: said(baseUrl === own_url ? baseUrl : 'another place than its own'),
  }
  const stored = settings.providers?.[provider]?.base_url
  if (from === 'settings' || stored === undefined) return good('provider', both.text, both.plain)
  const unused = `providers.${provider}.base_url does not count, since ${key_variable} or ${url_variable} is set.`
  return warning(
    'provider',
    { text: `${both.text} ${unused}`, plain: `${both.plain} ${unused}` },
    { action: `Set ${url_variable} beside ${key_variable}, or unset both.` },
  )
}

function problemCheck(uses: string, { error: { message, next_actions } }: Failed): Check {
  const text = `${uses}. ${message}`
  return problem('provider', { text }, next_actions[0] ?? USE_OFFLINE)
}

function unknownCheck(provider: string, because: string): Check {
  const said = (name: string) =>
    `${name} is no provider, and new Sessions would use it, because ${because}.`
  const both = { text: said(visibleLine(provider)), plain: said('Something') }
  return problem('provider', both, USE_OFFLINE)
}
