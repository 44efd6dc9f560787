import { failed, ok, type Result } from '../../model/errors.ts'
import { TRANSPORTS, type Transport } from '../../model/remote-providers.ts'
import type { Settings } from '../../model/settings.ts'

const VARIABLE = 'HAWSER_OPENAI_TRANSPORT'

/** The transport of Responses: from the environment, else the settings, else WebSocket if it works. Pure. */
export function transportOf(
  env: Readonly<Record<string, string | undefined>>,
  { providers }: Settings,
): Result<Transport> {
  const value = env[VARIABLE]
  if (value === undefined || value === '') return ok(providers?.openai?.transport ?? 'auto')
  const known = TRANSPORTS.find((transport) => transport === value)
  if (known !== undefined) return ok(known)
  return failed(
    'not_configured',
    `Invalid ${VARIABLE} "${value}". Expected one of ${TRANSPORTS.join(', ')}.`,
    {},
    [{ action: `Fix or unset ${VARIABLE}.` }],
  )
}
