import { SHORTEST_KEY } from '../../encoding/redaction.ts'
import { baseUrl, isHttpsOrLocal } from '../../model/base-url.ts'
import { failed, ok, type Failed, type NextAction, type Result } from '../../model/errors.ts'
import { REMOTE_PROVIDERS, type RemoteProvider } from '../../model/remote-providers.ts'
import type { Settings } from '../../model/settings.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A key, and the only URL it may be sent to. */
export interface Credentials {
  /** Absent for a server that needs none. */
  readonly key: string | undefined
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly from: 'environment' | 'settings'
}

/**
 * The key of a provider and the URL it belongs to. Both come from the environment or both from the settings; a key
 * without a URL belongs to the vendor's URL. So changing a URL never sends a key to a server that it was not meant for.
 * Pure.
 */
export function credentialsOf(
  provider: RemoteProvider,
  env: Env,
  settings: Settings,
): Result<Credentials> {
  const pair = pairOf(provider, env, settings)
  if (!pair.ok) return pair
  const { key: keyText, url: urlText, from, names } = pair.value
  const { own_url, any_server } = REMOTE_PROVIDERS[provider]
  const url = baseUrl(urlText ?? own_url)
  if (url === undefined) return badUrl(provider, names)
  const place = { baseUrl: url.href.replace(/\/+$/, ''), from }
  if (keyText === undefined) {
    const isCustom = urlText !== undefined && url.origin !== new URL(own_url).origin
    return any_server && isCustom ? ok({ key: undefined, ...place }) : noKey(provider)
  }
  const key = usableKey(keyText)
  if (key === undefined) return badKey(provider, names)
  return isHttpsOrLocal(url) ? ok({ key, ...place }) : insecureUrl(provider, names)
}

/** The value of a variable or setting without trailing newlines; `undefined` if it is empty. Pure. */
export function nonEmptyValue(text: string | undefined): string | undefined {
  const value = text?.replace(/[\r\n]+$/, '')
  return value === '' ? undefined : value
}

/** A key as it is sent; `undefined` if it contains invalid characters. Pure. */
export function usableKey(text: string): string | undefined {
  const key = nonEmptyValue(text)
  return key !== undefined && /^[\x21-\x7e]+$/.test(key) ? key : undefined
}

/** All keys, the longest first, except those too short to distinguish from ordinary words. Pure. */
export function secretsOf(env: Env, settings: Settings): readonly string[] {
  return keysIn(env, settings)
    .map(({ key }) => key)
    .filter((key) => key.length >= SHORTEST_KEY)
    .toSorted((a, b) => b.length - a.length)
}

/** Names of the variables and settings whose keys are too short to be redacted. Pure. */
export function unredactedKeys(env: Env, settings: Settings): readonly string[] {
  return keysIn(env, settings).flatMap(({ key, name }) => (key.length < SHORTEST_KEY ? [name] : []))
}

/** The token of a bot, instead of typing it. */
export const TELEGRAM_VARIABLE = 'TELEGRAM_BOT_TOKEN'

/** Each key once, under its first name. */
function keysIn(env: Env, settings: Settings): { readonly key: string; readonly name: string }[] {
  const variables = Object.values(REMOTE_PROVIDERS).map(({ key_variable: name }) => {
    return { name, key: nonEmptyValue(env[name]) }
  })
  const stored = Object.entries(settings.providers ?? {}).map(([provider, entry]) => {
    return { name: `providers.${provider}.key`, key: nonEmptyValue(entry?.key) }
  })
  const bot = [
    { name: TELEGRAM_VARIABLE, key: nonEmptyValue(env[TELEGRAM_VARIABLE]) },
    { name: 'telegram.token', key: nonEmptyValue(settings.telegram?.token) },
  ]
  const names = new Map<string, string>()
  for (const { name, key } of [...variables, ...stored, ...bot])
    if (key !== undefined && !names.has(key)) names.set(key, name)
  return [...names].map(([key, name]) => ({ key, name }))
}

/** A key and a URL from one origin, and the names of both for people. */
interface Pair {
  readonly key: string | undefined
  readonly url: string | undefined
  readonly from: Credentials['from']
  readonly names: Names
}

interface Names {
  readonly key: string
  readonly url: string
}

/** The pair that applies: the one in the environment, unless it is empty. */
function pairOf(provider: RemoteProvider, env: Env, settings: Settings): Result<Pair> {
  const { key_variable, url_variable, own_url, any_server } = REMOTE_PROVIDERS[provider]
  const entry = settings.providers?.[provider]
  const variables: Pair = {
    key: nonEmptyValue(env[key_variable]),
    url: nonEmptyValue(env[url_variable]),
    from: 'environment',
    names: { key: key_variable, url: url_variable },
  }
  const stored: Pair = {
    key: nonEmptyValue(entry?.key),
    url: nonEmptyValue(entry?.base_url),
    from: 'settings',
    names: { key: `providers.${provider}.key`, url: `providers.${provider}.base_url` },
  }
  if (variables.url === undefined) {
    // The vendor's key does not apply to a stored server that is not the vendor's.
    const otherServer = any_server && stored.url !== undefined
    return ok(variables.key === undefined || otherServer ? stored : variables)
  }
  if (variables.key !== undefined || stored.key === undefined) return ok(variables)
  return isSameUrl(variables.url, stored.url ?? own_url)
    ? ok(stored)
    : keyOfOtherUrl(provider, variables)
}

function isSameUrl(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => baseUrl(text)?.href.replace(/\/+$/, ''))
  return one !== undefined && one === other
}

function noKey(provider: RemoteProvider): Failed {
  const { key_variable, any_server } = REMOTE_PROVIDERS[provider]
  const server = {
    action: 'Set the URL of a server that needs no key.',
    command: `hawser config set providers.${provider}.base_url http://127.0.0.1:8080/v1`,
  }
  return refuseProvider(provider, 'no_key', `No API key for ${provider}.`, [
    { action: `Set ${key_variable} to your API key.` },
    storeKey(provider),
    ...(any_server ? [server] : []),
    USE_OFFLINE,
  ])
}

function keyOfOtherUrl(provider: RemoteProvider, { names: { key, url } }: Pair): Failed {
  const why = `${url} differs from the URL that the stored key of ${provider} belongs to, so the key is not sent.`
  return refuseProvider(provider, 'key_of_elsewhere', why, [
    { action: `Set ${key} to a key for that URL, or unset ${url}.` },
    {
      action: 'Store the URL with the key.',
      command: `hawser config set providers.${provider}.base_url URL`,
    },
    USE_OFFLINE,
  ])
}

/** The value is not repeated, because it may contain a password. */
function badUrl(provider: RemoteProvider, { url }: Names): Failed {
  const why = `${url} must be an http or https URL without user, query or fragment.`
  return refuseProvider(provider, 'bad_url', why, [{ action: `Fix or unset ${url}.` }, USE_OFFLINE])
}

function badKey(provider: RemoteProvider, { key }: Names): Failed {
  const why = `${key} contains whitespace or other characters that are invalid in a key.`
  return refuseProvider(provider, 'bad_key', why, [{ action: `Set ${key} again.` }, USE_OFFLINE])
}

function insecureUrl(provider: RemoteProvider, { url }: Names): Failed {
  const why = `${url} is plain http to another machine, which would expose the key.`
  return refuseProvider(provider, 'open_way', why, [
    { action: `Use https in ${url}.` },
    USE_OFFLINE,
  ])
}

function storeKey(provider: RemoteProvider): NextAction {
  return {
    action: 'Store a key; it is read from standard input.',
    command: `hawser config set providers.${provider}.key -`,
  }
}

export const USE_OFFLINE: NextAction = {
  action: 'Use the offline demo model.',
  command: 'hawser run --provider rehearsal "Hello"',
}

function refuseProvider(
  provider: RemoteProvider,
  reason: string,
  why: string,
  next: readonly NextAction[],
): Failed {
  return failed('not_configured', why, { provider, reason }, next)
}
