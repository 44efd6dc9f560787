import { readFileSync } from 'node:fs'
import type { VendorDialect } from '../../../rehearse/src/rules/request-schemas.ts'
import { schemaCheck, type SchemaCheck } from '../../../rehearse/src/rules/schema-check.ts'
import { problemText, type JsonSchema } from '../../../rehearse/src/rules/schema-problems.ts'

export type { VendorDialect }

type Kind = 'request' | 'event'

const FOLDER = new URL('../../../rehearse/vendor-schemas/', import.meta.url)
const CHECKS = new Map<string, SchemaCheck<unknown>>()

/** The errors in the body of a request, by the types of the vendor's SDK; empty if it is valid. */
export function requestErrors(dialect: VendorDialect, body: unknown): string[] {
  return errorsOf(dialect, 'request', body)
}

/**
 * The errors in an event, by the types of the vendor's SDK. These do not include what is not part of an answer: `ping`
 * and `error` of Messages, `[DONE]` of Chat Completions, and fields that only other servers send.
 */
export function eventErrors(dialect: VendorDialect, event: unknown): string[] {
  return errorsOf(dialect, 'event', event)
}

/** A schema that `npm run vendor-schemas` wrote. Its `$comment` names the package and version of the types. */
export function vendorSchema(dialect: VendorDialect, kind: Kind): JsonSchema {
  return JSON.parse(readFileSync(new URL(`${dialect}.${kind}.json`, FOLDER), 'utf8')) as JsonSchema
}

function errorsOf(dialect: VendorDialect, kind: Kind, value: unknown): string[] {
  const key = `${dialect}.${kind}`
  const check = CHECKS.get(key) ?? schemaCheck(vendorSchema(dialect, kind))
  CHECKS.set(key, check)
  const checked = check(value)
  return checked.ok ? [] : checked.problems.map(problemText)
}
