import { isJsonObject } from '../encoding/json.ts'
import { quote } from '../encoding/quote.ts'
import type {
  ContextSource,
  SourceOrigin,
  SourceParameter,
} from '../model/events/context-source.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'

/** What a hydration runs or reads: the declared origin, with every parameter replaced by its value. */
export type HydrationPlan = SourceOrigin

/** Values of parameters, by name. */
export type SourceArguments = Readonly<Record<string, unknown>>

/**
 * Replaces the parameters of a source by values. A value takes the place of a whole argument: none is split, joined or
 * interpreted. Fails with `invalid_args` for a value that the declaration does not allow. Pure.
 */
export function planHydration(
  { id, from, parameters = {} }: ContextSource,
  args: SourceArguments = {},
): Result<HydrationPlan> {
  const values = valuesOf(parameters, args)
  const plan = values.ok ? fillPlan(from, values.value) : values
  if (plan.ok) return plan
  const names = Object.keys(parameters)
  const { message } = plan.error
  return failed('invalid_args', `Context source ${quote(id)}: ${message}`, {
    context_source_id: id,
    parameters: names,
  })
}

/** The tools that only read and return text. */
export const READING_TOOLS: ReadonlySet<string> = new Set([
  'glob',
  'grep',
  'history_search',
  'read',
])

export function notReading(tool: string): string {
  return `No tool ${quote(tool)} can be a context source; these can: ${[...READING_TOOLS].join(', ')}.`
}

/** Why a source can never be hydrated, whatever its arguments are; `undefined` if it can. Pure. */
export function neverHydrated({ from, parameters = {} }: ContextSource): string | undefined {
  if (from.kind === 'tool' && !READING_TOOLS.has(from.name)) return notReading(from.name)
  // Other values may fit.
  if (Object.keys(parameters).length > 0) return undefined
  const plan = fillPlan(from, new Map())
  return plan.ok ? undefined : plan.error.message
}

type Values = ReadonlyMap<string, string | number>

function valuesOf(
  parameters: Readonly<Record<string, SourceParameter>>,
  args: SourceArguments,
): Result<Values> {
  const undeclared = Object.keys(args).find((name) => !Object.hasOwn(parameters, name))
  if (undeclared !== undefined) return refusedPlan(`it has no argument ${quote(undeclared)}.`)
  const values = new Map<string, string | number>()
  for (const [name, parameter] of Object.entries(parameters)) {
    const given = Object.hasOwn(args, name) ? args[name] : undefined
    const value = given ?? parameter.default
    if (value === undefined) return refusedPlan(`the argument ${quote(name)} is missing.`)
    const checked = checkedValue(parameter, value)
    if (typeof checked === 'object') {
      const { problem } = checked
      return refusedPlan(`the argument ${quote(name)} ${problem}.`)
    }
    values.set(name, checked)
  }
  return ok(values)
}

interface Problem {
  readonly problem: string
}

function checkedValue(parameter: SourceParameter, value: unknown): string | number | Problem {
  if (parameter.type === 'integer') return checkedInteger(parameter, value)
  if (typeof value !== 'string') return { problem: 'must be a text' }
  const problem = PROBLEMS[parameter.type](value, parameter)
  return problem === undefined ? value : { problem }
}

const PROBLEMS = {
  string: textProblem,
  path: pathProblem,
  // The author of the Skill wrote the choices, which may be options.
  choice: (value: string, { choices = [] }: SourceParameter) =>
    choices.includes(value) ? undefined : `must be ${choices.map(quote).join(' or ')}`,
} as const

/** Also accepts decimal digits, because a command line has only texts. A negative number would be an option. */
function checkedInteger(
  { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: SourceParameter,
  value: unknown,
): number | Problem {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number))
    return { problem: 'must be an integer' }
  if (number < minimum) return { problem: `must be at least ${minimum}` }
  return number > maximum ? { problem: `must be at most ${maximum}` } : number
}

/** One argument, and not an option. */
function textProblem(value: string): string | undefined {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)) return 'must not contain control characters'
  if (value.startsWith('-')) return 'must not start with a dash'
  return Buffer.byteLength(value) > LONGEST ? `must have at most ${LONGEST} bytes` : undefined
}

const LONGEST = 4_096

/** Relative to the workspace, and inside it. A colon at the start has a meaning for git. */
function pathProblem(value: string): string | undefined {
  if (value === '') return 'must not be empty'
  if (/^[/\\~:]|^[A-Za-z]:/.test(value)) return 'must be a path relative to the workspace'
  if (value.split(/[/\\]/).includes('..')) return 'must not contain ".."'
  return textProblem(value)
}

function fillPlan(from: SourceOrigin, values: Values): Result<HydrationPlan> {
  switch (from.kind) {
    case 'command': {
      const argv = together(from.argv.map((word) => filledText(word, values)))
      return argv.ok ? ok({ kind: 'command', argv: argv.value }) : argv
    }
    case 'file': {
      const path = filledText(from.path, values)
      if (!path.ok) return path
      const problem = pathProblem(path.value)
      if (problem !== undefined) return refusedPlan(`the file ${quote(path.value)} ${problem}.`)
      return ok({ kind: 'file', path: path.value })
    }
    case 'resource_view': {
      const handle = filledText(from.handle, values)
      return handle.ok ? ok({ kind: 'resource_view', handle: handle.value }) : handle
    }
    case 'presenter': {
      const fact = filledText(from.fact, values)
      return fact.ok ? ok({ kind: 'presenter', fact: fact.value }) : fact
    }
    case 'tool': {
      const given = objectOf(from.arguments, values)
      return given.ok ? ok({ kind: 'tool', name: from.name, arguments: given.value }) : given
    }
    default:
      return from satisfies never
  }
}

/** A whole argument `{name}`. */
const PLACEHOLDER = /^\{([A-Za-z_][\w-]*)\}$/

function filledText(word: string, values: Values): Result<string> {
  const value = placeholderValue(word, values)
  return value.ok ? ok(String(value.value)) : value
}

function placeholderValue(word: string, values: Values): Result<string | number> {
  const [, name] = PLACEHOLDER.exec(word) ?? []
  if (name === undefined) return ok(word)
  const value = values.get(name)
  return value === undefined
    ? refusedPlan(`${quote(word)} names no declared parameter.`)
    : ok(value)
}

/** A JSON value with its texts replaced; an integer stays a number. */
function valueOf(value: unknown, values: Values): Result<unknown> {
  if (typeof value === 'string') return placeholderValue(value, values)
  if (Array.isArray(value)) return together(value.map((one) => valueOf(one, values)))
  return isJsonObject(value) ? objectOf(value, values) : ok(value)
}

function objectOf(
  value: Readonly<Record<string, unknown>>,
  values: Values,
): Result<Readonly<Record<string, unknown>>> {
  const entries = Object.entries(value).map(([name, inner]) => {
    const made = valueOf(inner, values)
    return made.ok ? ok([name, made.value] as const) : made
  })
  const all = together(entries)
  return all.ok ? ok(Object.fromEntries(all.value)) : all
}

function together<T>(results: readonly Result<T>[]): Result<T[]> {
  const values: T[] = []
  for (const result of results) {
    if (!result.ok) return result
    values.push(result.value)
  }
  return ok(values)
}

function refusedPlan(message: string): Failed {
  return failed('invalid_args', message)
}
