import { isJsonObject } from '../../../../encoding/json.ts'
import type { VendorDialect } from './request-schemas.ts'
import type { Checked, SchemaCheck } from './schema-check.ts'
import type { Place } from './schema-problems.ts'

/** Where a request may differ from the types of the vendor's SDK. */
export interface Leniency {
  /** Whether a field that the types lack is ignored, and not a reason to refuse the request. */
  readonly ignores: (at: Place) => boolean
  /** Fields that the types require and the vendor does not, with what it assumes. */
  readonly assumes: ReadonlyMap<string, unknown>
}

/** What our own requests are held to: they are what the types say. */
export const STRICT: Leniency = { ignores: () => false, assumes: new Map() }

/** What the vendor does: it takes any field under a header that names a beta, and a few fields always. */
export function vendorLeniency(
  dialect: VendorDialect,
  headers: Readonly<Record<string, string>>,
): Leniency {
  const beta = Object.entries(headers).some(([name, value]) => BETA.test(name) && value !== '')
  return {
    ignores: (at) => beta || UNTYPED[dialect].has(pattern(at)),
    assumes: ASSUMED[dialect],
  }
}

/** `anthropic-beta`, `openai-beta`, `x-codex-beta-features`. */
const BETA = /(?:^|-)beta(?:-|$)/

const UNTYPED: Readonly<Record<VendorDialect, ReadonlySet<string>>> = {
  messages: new Set(),
  responses: new Set(['client_metadata', 'input.*.id', 'input.*.status']),
  chat: new Set(),
}

const ASSUMED: Readonly<Record<VendorDialect, Leniency['assumes']>> = {
  messages: new Map(),
  responses: new Map([['tools.*.strict', null]]),
  chat: new Map(),
}

/** `input.*.id` for the id of any item. */
function pattern(at: Place): string {
  return at.map((step) => (typeof step === 'number' ? '*' : step)).join('.')
}

/** Checks a value without the fields that are ignored and with those that are assumed. */
export function checkLeniently<T>(
  check: SchemaCheck<T>,
  leniency: Leniency,
  value: unknown,
): Checked<T> {
  const checked = check(value)
  if (checked.ok) return checked
  const { ignores, assumes } = leniency
  const excused = checked.problems.filter(
    ({ kind, at }) =>
      (kind === 'unknown' && ignores(at)) || (kind === 'missing' && assumes.has(pattern(at))),
  )
  const problems = checked.problems.filter((problem) => !excused.includes(problem))
  if (problems.length > 0 || excused.length === 0) return { ok: false, problems }
  const amended = excused.reduce<unknown>((rest, { kind, at }) => {
    return changed(rest, at, kind === 'missing' ? [assumes.get(pattern(at))] : [])
  }, value)
  // A union may then turn out to be another of its members, so what is left is checked again.
  return checkLeniently(check, leniency, amended)
}

/** The value with another field at a place, or without it where `to` is empty. */
function changed(value: unknown, [step, ...steps]: Place, to: readonly unknown[]): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? changed(item, steps, to) : item))
  }
  if (!isJsonObject(value) || step === undefined) return value
  const { [step]: field, ...others } = value
  if (steps.length > 0) return { ...value, [step]: changed(field, steps, to) }
  return to.length === 0 ? others : { ...others, [step]: to[0] }
}
