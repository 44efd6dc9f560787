import { Redactor } from '../../encoding/redaction.ts'
import { failed, type Failed } from '../../model/errors.ts'

/** Why a provider or model cannot be chosen: its name becomes a part of stored surfaces and of requests, and contains a key. */
export function keyedChoice(
  secrets: readonly string[],
  { provider, model }: { readonly provider: string; readonly model: string },
): Failed | undefined {
  const redactor = new Redactor(secrets)
  const field = Object.entries({ provider, model }).find(([, name]) => redactor.holds(name))?.[0]
  if (field === undefined) return undefined
  const message = `The name of the ${field} contains a configured API key.`
  return failed('invalid_args', message, { field }, [
    { action: 'List the models.', command: 'hawser models' },
  ])
}
