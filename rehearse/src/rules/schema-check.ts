import { Ajv } from 'ajv'
import { schemaProblems, type JsonSchema, type SchemaProblem } from './schema-problems.ts'

/** A value that matches its schema, or the problems with it. */
export type CheckedValue<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] }

export type SchemaCheck<T> = (value: unknown) => CheckedValue<T>

/**
 * A check against a schema that was generated from `T`. The validator decides whether a value matches; `schemaProblems`
 * explains why it does not. Without code optimisation the validator compiles in a third of the time.
 */
export function schemaCheck<T>(schema: JsonSchema): SchemaCheck<T> {
  const fits = new Ajv({ strict: false, code: { optimize: false } }).compile<T>(schema)
  return (value) => {
    if (fits(value)) return { ok: true, value }
    const problems = schemaProblems(schema, value)
    const unexplained = { at: [], kind: 'value', message: JSON.stringify(fits.errors) } as const
    return { ok: false, problems: problems.length > 0 ? problems : [unexplained] }
  }
}
