import { isJsonObject } from '../../../src/encoding/json.ts'

/** The part of JSON Schema that the vendors' schemas use. */
export interface JsonSchema {
  readonly $comment?: string
  readonly $ref?: string
  readonly definitions?: Readonly<Record<string, JsonSchema>>
  readonly anyOf?: readonly JsonSchema[]
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
}

/** A path into a value: field names and array indexes. */
export type ValuePath = readonly (string | number)[]

/** A problem at a place. For a missing or unknown field, it is the place of that field. */
export interface SchemaProblem {
  readonly at: ValuePath
  readonly kind: 'missing' | 'unknown' | 'type' | 'value'
  /** A phrase that follows the name of the place. */
  readonly message: string
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Lists the problems of a value. For a value that matches no member of a union, a validator must list the errors of all
 * members; this lists only those of the intended member, identified by constants such as `type`.
 */
export function schemaProblems(root: JsonSchema, value: unknown): SchemaProblem[] {
  return problemsAt(root, value, [])

  function problemsAt(schema: JsonSchema, given: unknown, at: ValuePath): SchemaProblem[] {
    const { anyOf, type, enum: allowed, ...rest } = resolveReference(schema)
    if (anyOf !== undefined) return unionProblems(members(schema), given, at)
    const types = [type ?? []].flat()
    if (types.length > 0 && !types.includes(typeOf(given))) {
      return [wrong('type', at, `is ${typeOf(given)}, not ${types.join(' or ')}`)]
    }
    if (allowed !== undefined && !allowed.includes(given)) {
      const others = allowed.map(brief).join(', ')
      return [wrong('value', at, `is ${brief(given)}, none of ${others}`)]
    }
    if ('const' in rest && rest.const !== given) {
      return [wrong('value', at, `is ${brief(given)}, not ${brief(rest.const)}`)]
    }
    if (Array.isArray(given)) {
      const { items = {} } = rest
      return given.flatMap((item: unknown, index) => problemsAt(items, item, [...at, index]))
    }
    return isJsonObject(given) ? fieldProblems(rest, given, at) : []
  }

  function fieldProblems(schema: JsonSchema, given: Fields, at: ValuePath): SchemaProblem[] {
    const { properties = {}, required = [], additionalProperties = true } = schema
    return [
      ...required
        .filter((name) => !Object.hasOwn(given, name))
        .map((name) => wrong('missing', [...at, name], `lacks ${name}`)),
      ...Object.entries(given).flatMap(([name, field]) => {
        const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
        if (known === false) {
          return [wrong('unknown', [...at, name], `has ${name}, which is not a known field`)]
        }
        return known === undefined || known === true ? [] : problemsAt(known, field, [...at, name])
      }),
    ]
  }

  function unionProblems(
    choices: readonly JsonSchema[],
    given: unknown,
    at: ValuePath,
  ): SchemaProblem[] {
    const meant = choices.filter((choice) => couldBe(resolveReference(choice), given))
    const problems = meant.map((choice) => problemsAt(choice, given, at))
    const fewest = problems.toSorted((a, b) => a.length - b.length)[0]
    const others = choices.map(titleOf).join(', ')
    return fewest ?? [wrong('value', at, `is ${brief(given)}, none of ${others}`)]
  }

  /** The members of a union, with nested unions flattened. */
  function members(schema: JsonSchema): JsonSchema[] {
    const { anyOf } = resolveReference(schema)
    return anyOf === undefined ? [schema] : anyOf.flatMap(members)
  }

  function couldBe({ type, properties = {} }: JsonSchema, given: unknown): boolean {
    const types = [type ?? []].flat()
    if (types.length > 0 && !types.includes(typeOf(given))) return false
    if (!isJsonObject(given)) return true
    return Object.entries(properties).every(
      ([name, field]) =>
        !Object.hasOwn(given, name) || !('const' in field) || field.const === given[name],
    )
  }

  function resolveReference(schema: JsonSchema): JsonSchema {
    if (schema.$ref === undefined) return schema
    const found = root.definitions?.[definitionOf(schema.$ref)]
    if (found === undefined) throw new Error(`no definition for ${schema.$ref}`)
    return resolveReference(found)
  }
}

/** The problem as a sentence about the containing value, such as `/messages/0 lacks content`. */
export function problemText({ at, kind, message }: SchemaProblem): string {
  const holder = kind === 'missing' || kind === 'unknown' ? at.slice(0, -1) : at
  return `${holder.length === 0 ? 'the value' : holder.map((step) => `/${step}`).join('')} ${message}`
}

function wrong(kind: SchemaProblem['kind'], at: ValuePath, message: string): SchemaProblem {
  return { at, kind, message }
}

function definitionOf(ref: string): string {
  return decodeURIComponent(ref.slice('#/definitions/'.length))
}

function titleOf({ $ref, type, const: only }: JsonSchema): string {
  if ($ref !== undefined) return definitionOf($ref)
  return only === undefined ? [type ?? 'anything'].flat().join(' or ') : brief(only)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Enough of a value to recognise it. */
function brief(value: unknown): string {
  if (value === undefined) return 'undefined'
  const shown = isJsonObject(value) ? { type: value['type'], role: value['role'] } : value
  return JSON.stringify(shown).slice(0, 80)
}
