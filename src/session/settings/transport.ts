import { failed, ok, type Result } from '../../model/errors.ts'
import { TRANSPORTS, type Transport } from '../../model/remote-providers.ts'
import type { Settings } from '../../model/settings.ts'

const VARIABLE = 'HAWSER_OPENAI_TRANSPORT'

/** The transport of Responses: from the environment, else the settings, else WebSocket if it works. Pure. */
export function transportOf(
  env: Readonly<Record<string, string | undefined>>,
  { providers }: Settings,
): Result<Transport> {
  const said = env[VARIABLE]
  if (said === undefined || said === '') return ok(providers?.openai?.transport ?? 'auto')
  const known = TRANSPORTS.find((transport) => transport === said)
  if (known !== undefined) return ok(known)
  return failed(
    'not_configured',
    `Invalid ${VARIABLE} "${said}". Expected one of ${TRANSPORTS.join(', ')}.`,
    {},
    [{ action: `Fix or unset ${VARIABLE}.` }],
  )
}
