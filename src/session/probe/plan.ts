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
import type { ModelChoice } from '../surface/surface-parts.ts'

/** One of the two variants of a comparison. */
export interface ProbeVariant {
  readonly name: string
  /** Environment variables that its Sessions get in addition. */
  readonly env: Readonly<Record<string, string>>
  /** The workspace path is in Layer 0 instead of late context. */
  readonly early: boolean
}

/** A comparison, before anything is sent. */
export interface ProbePlan extends ModelChoice {
  readonly vary: Factor
  readonly variants: readonly [ProbeVariant, ProbeVariant]
  /** The number of workspaces; each variant runs one Session in each, in sequence. */
  readonly workspaces: number
  readonly prompts: readonly string[]
  /** The least number of calls of both variants together. */
  readonly least_calls: number
}

/** Returns the variants of each factor, the older behaviour first. Pure. */
export function probePlan(vary: Factor, { provider, model }: ModelChoice): ProbePlan {
  const { variants, workspaces } = WAYS[vary]
  const least_calls = variants.length * workspaces * PROBE_PROMPTS.length * CALLS_A_PROMPT
  return { vary, provider, model, variants, workspaces, prompts: PROBE_PROMPTS, least_calls }
}

const WAYS: Readonly<Record<Factor, Pick<ProbePlan, 'variants' | 'workspaces'>>> = {
  transport: { variants: [over('http-sse'), over('websocket')], workspaces: 1 },
  // The cost of a path in Layer 0 shows in the second workspace, which cannot reuse the prefix of the first.
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

/** Only Responses has two transports; only Messages has a cache that all workspaces share. */
export const REHEARSAL_PROVIDERS: Readonly<Record<Factor, RemoteProvider>> = {
  transport: 'openai',
  contract: 'anthropic',
}

/** The model to compare with. Without credentials it is the offline demo model, wherever it is served. */
export interface ProbeTarget {
  readonly provider: RemoteProvider
  readonly model: string
  readonly credentials?: Pick<Credentials, 'key' | 'baseUrl'>
}

/** The remote model of a comparison, with its key and URL. Pure. */
export function liveTarget(
  vary: Factor,
  options: Omit<ChoiceOptions, 'provider'>,
): Result<ProbeTarget> {
  const only = vary === 'transport' ? REHEARSAL_PROVIDERS.transport : undefined
  const choice = chooseProvider({ ...options, provider: only })
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

/** The environment that selects a target; for the offline demo model, served at `origin`. Pure. */
export function environmentOf(
  { provider, credentials }: ProbeTarget,
  origin: string,
): Record<string, string> {
  const { key_variable, url_variable, own_url } = REMOTE_PROVIDERS[provider]
  // The server uses the same paths as the vendor.
  const rehearsal = { key: NO_KEY, baseUrl: origin + new URL(own_url).pathname.replace(/\/$/, '') }
  const { key, baseUrl } = credentials ?? rehearsal
  return { [url_variable]: baseUrl, ...(key === undefined ? {} : { [key_variable]: key }) }
}

/** A placeholder where a key is required but not checked. It is too short to be redacted as a secret. */
const NO_KEY = 'none'
