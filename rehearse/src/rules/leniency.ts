import { isJsonObject } from '../../../src/encoding/json.ts'
import type { VendorDialect } from './request-schemas.ts'
import type { CheckedValue, SchemaCheck } from './schema-check.ts'
import type { ValuePath } from './schema-problems.ts'

/** Where a request may differ from the types of the vendor's SDK. */
export interface Leniency {
  /** Whether a field that the types lack is ignored. Otherwise the request is refused. */
  readonly ignores: (at: ValuePath) => boolean
  /** Fields that the types require and the vendor does not, with their defaults. */
  readonly assumes: ReadonlyMap<string, unknown>
}

/** For our own requests: they must match the types. */
export const STRICT: Leniency = { ignores: () => false, assumes: new Map() }

/** As the vendor behaves: it accepts any field if a header names a beta, and some fields always. */
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

/** For example `input.*.id` for the id of any item. */
function pattern(at: ValuePath): string {
  return at.map((step) => (typeof step === 'number' ? '*' : step)).join('.')
}

/** Checks a value after it removes ignored fields and adds defaults. */
export function checkLeniently<T>(
  check: SchemaCheck<T>,
  leniency: Leniency,
  value: unknown,
): CheckedValue<T> {
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
    return setAt(rest, at, kind === 'missing' ? [assumes.get(pattern(at))] : [])
  }, value)
  // The changed value may match another member of a union, so it is checked again.
  return checkLeniently(check, leniency, amended)
}

/** Sets the field at a place to the one member of `to`, or removes it if `to` is empty. */
function setAt(value: unknown, [step, ...steps]: ValuePath, to: readonly unknown[]): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? setAt(item, steps, to) : item))
  }
  if (!isJsonObject(value) || step === undefined) return value
  const { [step]: field, ...others } = value
  if (steps.length > 0) return { ...value, [step]: setAt(field, steps, to) }
  return to.length === 0 ? others : { ...others, [step]: to[0] }
}
