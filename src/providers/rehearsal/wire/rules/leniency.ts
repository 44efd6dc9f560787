import { isJsonObject } from '../../../../encoding/json.ts'
import type { VendorDialect } from './request-schemas.ts'
import type { Checked, SchemaCheck } from './schema-check.ts'
import type { Place } from './schema-problems.ts'

/** Whether a field that the types of the vendor's SDK lack is ignored, and not a reason to refuse the request. */
export type Ignores = (at: Place) => boolean

/** What our own requests are held to: they contain nothing that the types lack. */
export const IGNORES_NOTHING: Ignores = () => false

/** What the vendor does: it takes any field under a header that names a beta, and a few fields always. */
export function vendorIgnores(
  dialect: VendorDialect,
  headers: Readonly<Record<string, string>>,
): Ignores {
  const beta = Object.entries(headers).some(([name, value]) => BETA.test(name) && value !== '')
  if (beta) return () => true
  return (at) =>
    UNTYPED[dialect].has(at.map((step) => (typeof step === 'number' ? '*' : step)).join('.'))
}

/** `anthropic-beta`, `openai-beta`, `x-codex-beta-features`. */
const BETA = /(?:^|-)beta(?:-|$)/

const UNTYPED: Readonly<Record<VendorDialect, ReadonlySet<string>>> = {
  messages: new Set(),
  responses: new Set(['client_metadata', 'input.*.id', 'input.*.status']),
  chat: new Set(),
}

/** Checks a value without the fields that are ignored. A problem that remains is none of theirs. */
export function checkWithout<T>(
  check: SchemaCheck<T>,
  ignores: Ignores,
  value: unknown,
): Checked<T> {
  const checked = check(value)
  if (checked.ok) return checked
  const ignored = checked.problems.filter(({ kind, at }) => kind === 'unknown' && ignores(at))
  const problems = checked.problems.filter((problem) => !ignored.includes(problem))
  if (problems.length > 0 || ignored.length === 0) return { ok: false, problems }
  // Without them a union may turn out to be another of its members, so what is left is checked again.
  return checkWithout(
    check,
    ignores,
    ignored.reduce((rest, { at }) => without(rest, at), value),
  )
}

function without(value: unknown, [step, ...steps]: Place): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? without(item, steps) : item))
  }
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value)
  if (steps.length === 0) return Object.fromEntries(entries.filter(([name]) => name !== step))
  return Object.fromEntries(
    entries.map(([name, field]) => [name, name === step ? without(field, steps) : field]),
  )
}
