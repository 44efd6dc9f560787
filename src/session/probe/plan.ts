import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import {
  isRemoteProvider,
  REMOTE_PROVIDERS,
  type RemoteProvider,
} from '../../model/remote-providers.ts'
import type { Factor } from './cache-comparison.ts'
import { chooseProvider, type ChoiceOptions } from '../settings/choice.ts'
import { credentialsOf, type Credentials } from '../settings/credentials.ts'
import { CALLS_A_PROMPT, PROBE_PROMPTS } from './script.ts'
import type { ModelChoice } from '../live/session.ts'

/** One of the two ways in which a comparison runs. */
export interface ProbeVariant {
  readonly name: string
  /** What the environment of its Sessions says besides. */
  readonly env: Readonly<Record<string, string>>
  /** The path of the workspace stands in Layer 0 instead of late. */
  readonly early: boolean
}

/** A comparison before anything is sent. */
export interface ProbePlan extends ModelChoice {
  readonly vary: Factor
  readonly variants: readonly [ProbeVariant, ProbeVariant]
  /** In each variant a Session runs in so many workspaces, one after another. */
  readonly workspaces: number
  readonly prompts: readonly string[]
  /** Of both variants together, if a model answers as briefly as it can. */
  readonly least_calls: number
}

/** What each factor is varied by. The order is that of a change: the older way first. Pure. */
export function probePlan(vary: Factor, { provider, model }: ModelChoice): ProbePlan {
  const { variants, workspaces } = WAYS[vary]
  const least_calls = variants.length * workspaces * PROBE_PROMPTS.length * CALLS_A_PROMPT
  return { vary, provider, model, variants, workspaces, prompts: PROBE_PROMPTS, least_calls }
}

const WAYS: Readonly<Record<Factor, Pick<ProbePlan, 'variants' | 'workspaces'>>> = {
  transport: { variants: [over('http-sse'), over('websocket')], workspaces: 1 },
  // What a path in Layer 0 costs shows in the second workspace: nothing of the first serves it.
  contract: {
    variants: [
      { name: 'early', env: {}, early: true },
      { name: 'late', env: {}, early: false },
    ],
    workspaces: 2,
  },
}

function over(name: string): ProbeVariant {
  return { name, env: { HAWSER_OPENAI_TRANSPORT: name }, early: false }
}

/** Only Responses can travel in two ways; a cache that every workspace shares is that of Messages. */
export const REHEARSED: Readonly<Record<Factor, RemoteProvider>> = {
  transport: 'openai',
  contract: 'anthropic',
}

/** Who is asked. Without credentials that is the rehearsal model, wherever it is served. */
export interface ProbeTarget {
  readonly provider: RemoteProvider
  readonly model: string
  readonly credentials?: Pick<Credentials, 'key' | 'baseUrl'>
}

/** The model on the network that a comparison asks, and the key and place it is asked with. Pure. */
export function liveTarget(
  vary: Factor,
  options: Omit<ChoiceOptions, 'provider'>,
): Result<ProbeTarget> {
  const said = vary === 'transport' ? REHEARSED.transport : undefined
  const choice = chooseProvider({ ...options, provider: said })
  if (!choice.ok) return choice
  const { provider, model } = choice.value
  if (!isRemoteProvider(provider)) return notLive(provider)
  const credentials = credentialsOf(provider, options.env, options.settings)
  return credentials.ok ? ok({ provider, model, credentials: credentials.value }) : credentials
}

function notLive(provider: string): Failed {
  const message = 'No provider with an API key is configured.'
  return failed('not_configured', message, { provider }, [
    { action: 'Compare with the offline demo model.', command: 'hawser cache probe' },
  ])
}

/** The environment in which a target is found; the rehearsal model is, if it is served at `origin`. Pure. */
export function environmentOf(
  { provider, credentials }: ProbeTarget,
  origin: string,
): Record<string, string> {
  const { key_variable, url_variable, own_url } = REMOTE_PROVIDERS[provider]
  // A server that speaks for a vendor has the vendor's paths.
  const rehearsal = { key: NO_KEY, baseUrl: origin + new URL(own_url).pathname.replace(/\/$/, '') }
  const { key, baseUrl } = credentials ?? rehearsal
  return { [url_variable]: baseUrl, ...(key === undefined ? {} : { [key_variable]: key }) }
}

/** Said where a key must be and none is asked for. Too short to be taken for a secret, which no Event may hold. */
const NO_KEY = 'none'
