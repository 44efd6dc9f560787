import { readFileSync } from 'node:fs'
import type { VendorDialect } from '../../src/providers/rehearsal/wire/rules/request-schemas.ts'
import {
  schemaCheck,
  type SchemaCheck,
} from '../../src/providers/rehearsal/wire/rules/schema-check.ts'
import {
  problemText,
  type JsonSchema,
} from '../../src/providers/rehearsal/wire/rules/schema-problems.ts'

export type { VendorDialect }

type Kind = 'request' | 'event'

const FOLDER = new URL('../../src/providers/rehearsal/wire/vendor-schemas/', import.meta.url)
const CHECKS = new Map<string, SchemaCheck<unknown>>()

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

function errorsOf(dialect: VendorDialect, kind: Kind, value: unknown): string[] {
  const key = `${dialect}.${kind}`
  const check = CHECKS.get(key) ?? schemaCheck(vendorSchema(dialect, kind))
  CHECKS.set(key, check)
  const checked = check(value)
  return checked.ok ? [] : checked.problems.map(problemText)
}
