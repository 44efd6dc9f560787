/** As much of JSON Schema as the schemas in `test/vendor-schemas` use. */
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

type Fields = Readonly<Record<string, unknown>>

/**
 * Says in a few sentences what is wrong with a value. A validator has to give, for a value that fits no member of a union, the
 * errors of all members; here only the member counts that the value was meant to be, told by its constants such as `type`.
 */
export function schemaErrors(root: JsonSchema, value: unknown): string[] {
  return errorsAt(root, value, '')

  function errorsAt(schema: JsonSchema, given: unknown, at: string): string[] {
    const { anyOf, type, enum: allowed, ...rest } = resolved(schema)
    if (anyOf !== undefined) return unionErrors(members(schema), given, at)
    const types = [type ?? []].flat()
    if (types.length > 0 && !types.includes(typeOf(given))) {
      return [`${place(at)} is ${typeOf(given)}, not ${types.join(' or ')}`]
    }
    if (allowed !== undefined && !allowed.includes(given)) {
      return [`${place(at)} is ${brief(given)}, none of ${allowed.map(brief).join(', ')}`]
    }
    if ('const' in rest && rest.const !== given) {
      return [`${place(at)} is ${brief(given)}, not ${brief(rest.const)}`]
    }
    if (Array.isArray(given)) {
      const { items = {} } = rest
      return given.flatMap((item: unknown, index) => errorsAt(items, item, `${at}/${index}`))
    }
    return isFields(given) ? fieldErrors(rest, given, at) : []
  }

  function fieldErrors(schema: JsonSchema, given: Fields, at: string): string[] {
    const { properties = {}, required = [], additionalProperties = true } = schema
    return [
      ...required
        .filter((name) => !Object.hasOwn(given, name))
        .map((name) => `${place(at)} lacks ${name}`),
      ...Object.entries(given).flatMap(([name, field]) => {
        const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
        if (known === false) return [`${place(at)} has ${name}, which is unknown there`]
        return known === undefined || known === true ? [] : errorsAt(known, field, `${at}/${name}`)
      }),
    ]
  }

  function unionErrors(choices: readonly JsonSchema[], given: unknown, at: string): string[] {
    const meant = choices.filter((choice) => couldBe(resolved(choice), given))
    const errors = meant.map((choice) => errorsAt(choice, given, at))
    const fewest = errors.toSorted((a, b) => a.length - b.length)[0]
    return fewest ?? [`${place(at)} is ${brief(given)}, none of ${choices.map(titleOf).join(', ')}`]
  }

  /** The members of a union, those of unions among them included. */
  function members(schema: JsonSchema): JsonSchema[] {
    const { anyOf } = resolved(schema)
    return anyOf === undefined ? [schema] : anyOf.flatMap(members)
  }

  function couldBe({ type, properties = {} }: JsonSchema, given: unknown): boolean {
    const types = [type ?? []].flat()
    if (types.length > 0 && !types.includes(typeOf(given))) return false
    if (!isFields(given)) return true
    return Object.entries(properties).every(
      ([name, field]) =>
        !Object.hasOwn(given, name) || !('const' in field) || field.const === given[name],
    )
  }

  function resolved(schema: JsonSchema): JsonSchema {
    if (schema.$ref === undefined) return schema
    const found = root.definitions?.[definitionOf(schema.$ref)]
    if (found === undefined) throw new Error(`no definition for ${schema.$ref}`)
    return resolved(found)
  }
}

function definitionOf(ref: string): string {
  return decodeURIComponent(ref.slice('#/definitions/'.length))
}

function titleOf({ $ref, type, const: only }: JsonSchema): string {
  if ($ref !== undefined) return definitionOf($ref)
  return only === undefined ? [type ?? 'anything'].flat().join(' or ') : brief(only)
}

function place(at: string): string {
  return at === '' ? 'the whole' : at
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isFields(value: unknown): value is Fields {
  return typeOf(value) === 'object'
}

/** Enough of a value to know it by. */
function brief(value: unknown): string {
  if (value === undefined) return 'undefined'
  const shown = isFields(value) ? { type: value['type'], role: value['role'] } : value
  return JSON.stringify(shown).slice(0, 80)
}
