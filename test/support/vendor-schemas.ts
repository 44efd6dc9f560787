import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { schemaErrors, type JsonSchema } from './schema-errors.ts'

/** The dialects that are a vendor's. */
export type VendorDialect = 'messages' | 'responses' | 'chat'

type Kind = 'request' | 'event'

const FOLDER = new URL('../vendor-schemas/', import.meta.url)
const COMPILED = new Map<string, ValidateFunction>()

/** What the vendor would not take about a body, by the types of its SDK; nothing when it is right. */
export function requestErrors(dialect: VendorDialect, body: unknown): string[] {
  return errorsOf(dialect, 'request', body)
}

/**
 * What is not as the vendor sends it, by the types of its SDK. They do not know what is no part of an answer: `ping` and
 * `error` of Messages, `[DONE]` of Chat Completions, fields that only other servers send.
 */
export function eventErrors(dialect: VendorDialect, event: unknown): string[] {
  return errorsOf(dialect, 'event', event)
}

/** Written by `npm run vendor-schemas`. Its `$comment` is the package and the version of the types. */
export function vendorSchema(dialect: VendorDialect, kind: Kind): JsonSchema {
  return JSON.parse(readFileSync(new URL(`${dialect}.${kind}.json`, FOLDER), 'utf8')) as JsonSchema
}

/** Whether a value fits is for the validator to say; why it does not, for us. */
function errorsOf(dialect: VendorDialect, kind: Kind, value: unknown): string[] {
  const fits = compiled(dialect, kind)
  if (fits(value)) return []
  const errors = schemaErrors(vendorSchema(dialect, kind), value)
  return errors.length > 0 ? errors : [JSON.stringify(fits.errors)]
}

/** Once a process. Code that is not optimised is there in a third of the time. */
function compiled(dialect: VendorDialect, kind: Kind): ValidateFunction {
  const key = `${dialect}.${kind}`
  const known = COMPILED.get(key)
  if (known !== undefined) return known
  const ajv = new Ajv({ strict: false, code: { optimize: false } })
  const fits = ajv.compile(vendorSchema(dialect, kind))
  COMPILED.set(key, fits)
  return fits
}
