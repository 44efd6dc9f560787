import { ok, type Result } from '../model/errors.ts'
import type { RemoteProvider } from '../model/remote-providers.ts'
import type { Settings } from '../model/settings.ts'
import { ENDPOINTS, requestHeaders } from '../providers/endpoints.ts'
import { catalogue } from '../providers/models/catalogue.ts'
import { DIALECT_OF } from '../providers/remote/dialects.ts'
import { usageReader } from '../providers/remote/reported-usage.ts'
import { credentialsOf, secretsOf } from '../session/settings/credentials.ts'
import type { RelayedAccess } from '../tether/relay/rules.ts'
import { costOf } from '../turn/cost.ts'

/** What the server's relay needs to call a provider for a guest: the key, and the knowledge of its dialect. */
export function composeRelayAccess(
  provider: RemoteProvider,
  env: Readonly<Record<string, string | undefined>>,
  settings: Settings,
): Result<RelayedAccess> {
  const credentials = credentialsOf(provider, env, settings)
  if (!credentials.ok) return credentials
  const { key, baseUrl } = credentials.value
  const dialect = DIALECT_OF[provider]
  const { path, fields } = ENDPOINTS[dialect]
  const { factsOf } = catalogue(settings.models ?? {})
  return ok({
    provider,
    baseUrl,
    key,
    // The key itself even if it is too short to be redacted elsewhere: vendors repeat it in errors.
    secrets: [...new Set([...secretsOf(env, settings), ...(key === undefined ? [] : [key])])],
    path,
    fields,
    headers: requestHeaders(dialect, key),
    usageReader: () => usageReader(dialect),
    factsOf: (model) => factsOf(provider, model),
    costOf,
  })
}
