import { isJsonObject } from '../../../src/encoding/json.ts'
import { wrong, type WireRefusal } from './refusal.ts'
import type { ValuePath } from './schema-problems.ts'

// The rules that Responses and Chat Completions share.

interface Common {
  readonly model?: string
  readonly stream_options?: object | null
  readonly prompt_cache_key?: string | null
  readonly safety_identifier?: string | null
  readonly metadata?: Readonly<Record<string, string>> | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_logprobs?: number | null
}

/** `streams`: whether the client requested events. The body was changed before this check. */
export function brokenCommonRule(body: Common, streams: boolean): WireRefusal | undefined {
  const { model, stream_options, prompt_cache_key, safety_identifier, metadata } = body
  if (model === undefined) {
    return wrong(['model'], 'is required', 'missing_required_parameter')
  }
  if (model === '') return wrong(['model'], 'must not be empty', 'empty_string')
  if (stream_options && !streams) {
    return wrong(['stream_options'], 'requires stream: true')
  }
  return (
    tooLong(['prompt_cache_key'], prompt_cache_key, LONGEST_KEY) ??
    tooLong(['safety_identifier'], safety_identifier, LONGEST_KEY) ??
    wrongMetadata(metadata ?? {}) ??
    outside(['temperature'], body.temperature, 0, 2) ??
    outside(['top_p'], body.top_p, 0, 1) ??
    outside(['top_logprobs'], body.top_logprobs, 0, 20)
  )
}

const LONGEST_KEY = 64

export function tooLong(
  at: ValuePath,
  text: string | null | undefined,
  most: number,
): WireRefusal | undefined {
  if (text === null || text === undefined || text.length <= most) return undefined
  const message = `has ${text.length} characters; the maximum is ${most}`
  return wrong(at, message, 'string_above_max_length')
}

export function outside(
  at: ValuePath,
  figure: number | null | undefined,
  least: number,
  most: number,
): WireRefusal | undefined {
  if (figure === null || figure === undefined) return undefined
  if (figure < least) return wrong(at, `must be at least ${least}`, 'decimal_below_min_value')
  return figure > most ? wrong(at, `must be at most ${most}`, 'decimal_above_max_value') : undefined
}

/** A token limit. */
export function wrongLimit(
  at: ValuePath,
  figure: number | null | undefined,
  least: number,
): WireRefusal | undefined {
  if (figure === null || figure === undefined) return undefined
  if (!Number.isInteger(figure)) return wrong(at, 'must be a whole number', 'invalid_type')
  return figure < least
    ? wrong(at, `must be at least ${least}`, 'integer_below_min_value')
    : undefined
}

const MOST_METADATA = 16
const LONGEST_VALUE = 512

function wrongMetadata(metadata: Readonly<Record<string, string>>): WireRefusal | undefined {
  const entries = Object.entries(metadata)
  if (entries.length > MOST_METADATA) {
    const code = 'object_above_max_properties'
    return wrong(['metadata'], `must have at most ${MOST_METADATA} fields`, code)
  }
  for (const [name, value] of entries) {
    const long = tooLong(['metadata'], name, LONGEST_KEY)
    const refusal = long ?? tooLong(['metadata', name], value, LONGEST_VALUE)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** A tool that a model may call. */
export interface OfferedFunction {
  /** The place of its fields. */
  readonly at: ValuePath
  readonly name: string
  readonly description?: string | null | undefined
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined
  readonly strict?: boolean | null | undefined
}

const MOST_TOOLS = 128
const NAME = /^[A-Za-z0-9_-]{1,64}$/

export function wrongFunctions(
  functions: readonly OfferedFunction[],
  count: number,
): WireRefusal | undefined {
  if (count > MOST_TOOLS) {
    return wrong(['tools'], `must have at most ${MOST_TOOLS} members`, 'array_above_max_length')
  }
  const names = new Set<string>()
  for (const offered of functions) {
    const { at, name } = offered
    const refusal = wrongName([...at, 'name'], name) ?? wrongParameters(offered)
    if (refusal !== undefined) return refusal
    if (names.has(name)) return wrong([...at, 'name'], 'tool names must be unique')
    names.add(name)
  }
  return undefined
}

export function wrongName(at: ValuePath, name: string): WireRefusal | undefined {
  if (NAME.test(name)) return undefined
  const code = name === '' ? 'empty_string' : 'invalid_value'
  return tooLong(at, name, LONGEST_KEY) ?? wrong(at, `must match ${NAME.source}`, code)
}

function wrongParameters({ at, parameters, strict }: OfferedFunction): WireRefusal | undefined {
  if (!parameters) return undefined
  const place = [...at, 'parameters']
  const code = 'invalid_function_parameters'
  if (parameters['type'] !== 'object') {
    return wrong(place, 'the schema must have the type object', code)
  }
  if (strict !== true) return undefined
  const { properties, required } = parameters
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  const all = Array.isArray(required) && names.every((name) => required.includes(name))
  if (parameters['additionalProperties'] === false && (names.length === 0 || all)) return undefined
  const message = 'a strict schema must require all its properties and allow no others'
  return wrong(place, message, code)
}

/** `tool_choice` needs tools, and a named tool must be among them. */
export function wrongChoice(
  choice: unknown,
  name: string | undefined,
  functions: readonly OfferedFunction[],
  count: number,
): WireRefusal | undefined {
  if (choice === undefined || choice === null || choice === 'none') return undefined
  if (count === 0 && choice !== 'auto') {
    return wrong(['tool_choice'], 'requires tools')
  }
  if (name === undefined || functions.some((offered) => offered.name === name)) return undefined
  return wrong(['tool_choice'], 'names a tool that is not in tools')
}
