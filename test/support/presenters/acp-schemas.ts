import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

interface AcpSchema {
  readonly $defs: Readonly<Record<string, { readonly 'x-method'?: string }>>
}

const require = createRequire(import.meta.url)
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })

/** What a message must match, by its method: the JSON Schemas of the SDK. What is not in the protocol yet is in its draft. */
const SCHEMAS = (
  [
    ['acp', 'schema'],
    ['draft', 'schema.unstable'],
  ] as const
).map(([key, name]) => {
  const entry = require.resolve(`@agentclientprotocol/sdk/schema/v1/${name}.json`)
  const { $defs } = JSON.parse(readFileSync(entry, 'utf8')) as AcpSchema
  ajv.addSchema({ $defs }, key)
  return { key, $defs }
})

type Part = 'Request' | 'Response' | 'Notification'

function validatorOf(method: string, part: Part): ValidateFunction | undefined {
  for (const { key, $defs } of SCHEMAS) {
    const found = Object.entries($defs).find(
      ([name, one]) => one['x-method'] === method && name.endsWith(part),
    )
    if (found !== undefined) return ajv.getSchema(`${key}#/$defs/${found[0]}`)
  }
  return undefined
}

/** Checks the messages of one connection, in both directions. */
export class SchemaCheck {
  readonly offences: string[] = []
  readonly #methods = new Map<string, string>()

  /** `from` is the sender. */
  take(from: 'agent' | 'client', message: Readonly<Record<string, unknown>>): void {
    const { id, method, params, result, error } = message
    if (typeof method === 'string') {
      if (id !== undefined) this.#methods.set(`${from} ${JSON.stringify(id)}`, method)
      this.#check(method, id === undefined ? 'Notification' : 'Request', params)
      return
    }
    const asker = from === 'agent' ? 'client' : 'agent'
    const asked = this.#methods.get(`${asker} ${JSON.stringify(id)}`)
    if (error !== undefined) this.#valid(ajv.getSchema('acp#/$defs/Error'), error, 'an error')
    else if (asked === undefined) this.offences.push(`a response to nothing: ${String(id)}`)
    else this.#check(asked, 'Response', result)
  }

  #check(method: string, part: Part, value: unknown): void {
    const validator = validatorOf(method, part)
    if (validator !== undefined) this.#valid(validator, value, `${method} ${part}`)
    else if (!method.startsWith('$/')) this.offences.push(`${method} is not in the schema`)
  }

  #valid(validator: ValidateFunction | undefined, value: unknown, what: string): void {
    if (validator?.(value) === true) return
    this.offences.push(`${what}: ${ajv.errorsText(validator?.errors ?? null)}`)
  }
}
