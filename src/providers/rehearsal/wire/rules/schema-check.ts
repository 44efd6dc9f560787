import { Ajv } from 'ajv'
import { schemaProblems, type JsonSchema, type SchemaProblem } from './schema-problems.ts'

/** A value that is known to be what its schema says, or what is wrong with it. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] }

export type SchemaCheck<T> = (value: unknown) => Checked<T>

/**
 * A check by a schema that was made of `T`. Whether a value fits is for the validator to say; why it does not, for us. Code
 * that is not optimised is there in a third of the time.
 */
export function schemaCheck<T>(schema: JsonSchema): SchemaCheck<T> {
  const fits = new Ajv({ strict: false, code: { optimize: false } }).compile<T>(schema)
  return (value) => {
    if (fits(value)) return { ok: true, value }
    const problems = schemaProblems(schema, value)
    const unexplained = { at: [], kind: 'value', told: JSON.stringify(fits.errors) } as const
    return { ok: false, problems: problems.length > 0 ? problems : [unexplained] }
  }
}
