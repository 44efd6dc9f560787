import * as z from 'zod'
import type {
  ContextSource,
  SourceOrigin,
  SourceParameter,
} from '../model/events/context-source.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import { LIMITS } from '../model/limits.ts'
import { quotedName, type FrontMatterPart } from './front-matter-part.ts'

/** The context sources that a front matter declares, with their defaults. What is wrong is reported to the part. */
export function declaredSources(part: FrontMatterPart): ContextSource[] {
  const sources = part.items().flatMap((entry) => declaredSource(entry) ?? [])
  const ids = new Set<string>()
  for (const [at, { id }] of sources.entries()) {
    if (ids.has(id)) part.at(at).error(`The id ${quotedName(id)} is there twice.`)
    ids.add(id)
  }
  return sources
}

const NAME_FORM = 'must have lower-case letters, digits, "-" or "_", at most 64'
const MOST_SECONDS = LIMITS.hydration_max_ms / 1000
const SECONDS = `must be a number of seconds, at most ${MOST_SECONDS}`
const BYTES = `must be a number of bytes from 1 to ${LIMITS.hydrated_output_max_bytes}`
const TEXT_LENGTH = 1024

const DeclaredSource = z.object({
  id: z.string(NAME_FORM).regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, NAME_FORM),
  description: z.string().max(TEXT_LENGTH, `has more than ${TEXT_LENGTH} characters`).optional(),
  command: z.unknown().optional(),
  file: z.unknown().optional(),
  resource: z.unknown().optional(),
  presenter: z.unknown().optional(),
  tool: z.unknown().optional(),
  parameters: z.unknown().optional(),
  max_bytes: z
    .int(BYTES)
    .min(1, BYTES)
    .max(LIMITS.hydrated_output_max_bytes, BYTES)
    .default(LIMITS.hydrated_output_bytes),
  timeout_s: z
    .number(SECONDS)
    .min(0.001, SECONDS)
    .max(MOST_SECONDS, SECONDS)
    .default(LIMITS.hydration_ms / 1000),
  auto: z.boolean('must be true or false').default(false),
})

function declaredSource(entry: FrontMatterPart): ContextSource | undefined {
  if (entry.fields === undefined) return entry.wrong('must have keys and values')
  const read = entry.check(DeclaredSource)
  const from = declaredOrigin(entry, entry.fields)
  const parameters = declaredParameters(entry.at('parameters'))
  if (read === undefined || from === undefined || parameters === undefined) return undefined
  checkPlaceholders(entry, from, parameters)
  const open = Object.entries(parameters).find(([, { default: given }]) => given === undefined)
  if (read.auto && open !== undefined)
    entry.at('auto').wrong(`is not possible: the parameter ${quotedName(open[0])} has no default`)
  return definedFields({
    id: read.id,
    description: read.description,
    from,
    parameters: Object.keys(parameters).length === 0 ? undefined : parameters,
    max_bytes: read.max_bytes,
    timeout_ms: Math.round(read.timeout_s * 1000),
    auto: read.auto ? true : undefined,
  })
}

const ORIGINS = ['command', 'file', 'resource', 'presenter', 'tool'] as const

function declaredOrigin(
  entry: FrontMatterPart,
  fields: Readonly<Record<string, unknown>>,
): SourceOrigin | undefined {
  const given = ORIGINS.filter((origin) => Object.hasOwn(fields, origin))
  const [origin] = given
  if (origin === undefined || given.length > 1)
    return entry.wrong(`must have exactly one of ${ORIGINS.join(', ')}`)
  const part = entry.at(origin)
  if (origin === 'command') return commandOf(part)
  if (origin === 'tool') return toolOf(part)
  const { value } = part
  if (typeof value !== 'string' || value === '' || /\p{Cc}/u.test(value))
    return part.wrong('must be a text on one line')
  if (origin === 'resource') return { kind: 'resource_view', handle: value }
  if (origin === 'presenter') return { kind: 'presenter', fact: value }
  if (leavesWorkspace(value)) {
    const message = `${part.name} is outside the workspace, so it is always refused: ${quotedName(value)}.`
    part.warning(message)
  }
  return { kind: 'file', path: value }
}

/** By its text alone; hydration checks again where the path leads. */
function leavesWorkspace(path: string): boolean {
  return path.startsWith('/') || path.startsWith('~') || path.split(/[\\/]/).includes('..')
}

function commandOf(part: FrontMatterPart): SourceOrigin | undefined {
  if (!Array.isArray(part.value)) {
    const why = typeof part.value === 'string' ? 'There is no shell: write' : 'Write'
    const example = 'such as [git, diff, HEAD]'
    return part.wrong(`must be a list. ${why} the program and its arguments, ${example}`)
  }
  const argv = part.items().map(argumentOf)
  if (argv.length === 0) part.wrong('is empty')
  else if (argv[0] === '') part.wrong('has no program')
  return { kind: 'command', argv: argv.map((argument) => argument ?? '') }
}

/** A number or a flag is an argument as it is written. */
function argumentOf(part: FrontMatterPart): string | undefined {
  const { text, fields } = part
  if (text !== undefined && !text.includes('\0')) return text
  const braces = fields === undefined ? '' : ' Put a parameter in quotes: "{name}".'
  return part.error(`${part.name} must be a text.${braces}`)
}

const DeclaredTool = z.object({
  name: z.string().regex(/^[A-Za-z][\w-]{0,63}$/, 'must be the name of a tool'),
  arguments: z.record(z.string(), z.unknown(), 'must have keys and values').default({}),
})

function toolOf(part: FrontMatterPart): SourceOrigin | undefined {
  if (part.fields === undefined)
    return part.wrong('must have a name, and arguments if it needs some')
  const tool = part.check(DeclaredTool)
  return tool && { kind: 'tool', name: tool.name, arguments: tool.arguments }
}

const MOST_PARAMETERS = 16
const TYPES = 'must be string, integer, path or choice'
const INTEGER = 'must be an integer'

const DeclaredParameter = z.object({
  type: z.enum(['string', 'integer', 'path', 'choice'], TYPES),
  description: z.string().max(1024, 'has more than 1024 characters').optional(),
  default: z.union([z.string(), z.int()], 'must be a text or an integer').optional(),
  choices: z
    .array(z.string('must be a text: put it in quotes'), 'must be a list')
    .min(1, 'is empty')
    .optional(),
  minimum: z.int(INTEGER).optional(),
  maximum: z.int(INTEGER).optional(),
})

/** By name; `undefined` if one is invalid. */
function declaredParameters(
  part: FrontMatterPart,
): Readonly<Record<string, SourceParameter>> | undefined {
  if (part.value === undefined) return {}
  const names = part.fields && Object.keys(part.fields)
  if (names === undefined || names.length > MOST_PARAMETERS)
    return part.wrong(`must have at most ${MOST_PARAMETERS} keys, each with a type`)
  const valid = names.flatMap((name) => {
    const parameter = parameterOf(part.at(name), name)
    return parameter === undefined ? [] : [[name, parameter] as const]
  })
  return valid.length === names.length ? Object.fromEntries(valid) : undefined
}

function parameterOf(part: FrontMatterPart, name: string): SourceParameter | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
    return part.error(`${quotedName(name)} is not a valid name of a parameter.`)
  const parameter = part.check(DeclaredParameter)
  const wrong = parameter && contradiction(parameter)
  if (wrong !== undefined) part.wrong(wrong)
  return parameter
}

/** What in a declaration excludes something else in it. */
function contradiction(parameter: SourceParameter): string | undefined {
  const { type, choices, minimum, maximum, default: given } = parameter
  if ((choices !== undefined) !== (type === 'choice'))
    return 'has choices if and only if it is a choice'
  if (type !== 'integer' && (minimum ?? maximum) !== undefined) {
    return 'has a minimum or maximum, which only an integer can have'
  }
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
    return 'has a minimum above its maximum'
  }
  return given === undefined ? undefined : badDefault(given, parameter)
}

function badDefault(given: string | number, parameter: SourceParameter): string | undefined {
  const { type, choices = [], minimum = -Infinity, maximum = Infinity } = parameter
  if (type === 'integer') {
    if (typeof given !== 'number') return 'has a default that is not an integer'
    return given < minimum || given > maximum ? 'has a default beyond its limits' : undefined
  }
  if (typeof given !== 'string') return 'has a default that is not a text: put it in quotes'
  if (type === 'choice')
    return choices.includes(given) ? undefined : 'has a default that is no choice'
  return given.startsWith('-') || /\p{Cc}/u.test(given)
    ? 'has a default that begins with a dash or has a control character'
    : undefined
}

/**
 * Checks that a `{name}` is a whole argument and names a declared parameter, and that the program of a command is fixed.
 * Other braces, as in `HEAD@{upstream}`, are text.
 */
function checkPlaceholders(
  entry: FrontMatterPart,
  from: SourceOrigin,
  parameters: Readonly<Record<string, SourceParameter>>,
): void {
  const used = new Set<string>()
  for (const [text, part] of textsOf(from, entry)) {
    const whole = /^\{([^{}]*)\}$/.exec(text)?.[1]
    if (whole !== undefined) {
      used.add(whole)
      if (Object.hasOwn(parameters, whole)) continue
      part.wrong(`is an undeclared parameter: ${quotedName(text)}`)
    }
    const inside = Object.keys(parameters).find((name) => text.includes(`{${name}}`))
    if (inside === undefined) continue
    part.wrong(`has the parameter ${quotedName(inside)} as a part; a parameter is a whole argument`)
    used.add(inside)
  }
  const [program = ''] = from.kind === 'command' ? from.argv : []
  if (program.startsWith('{'))
    entry.at('command').error('The program of a command cannot be a parameter.')
  for (const name of Object.keys(parameters)) {
    if (used.has(name)) continue
    entry.at('parameters', name).warning(`The parameter ${quotedName(name)} is not used.`)
  }
}

type PlacedText = readonly [text: string, part: FrontMatterPart]

/** Every text that may be a parameter. */
function textsOf(from: SourceOrigin, entry: FrontMatterPart): readonly PlacedText[] {
  switch (from.kind) {
    case 'command':
      return from.argv.map((text, index) => [text, entry.at('command', index)])
    case 'file':
      return [[from.path, entry.at('file')]]
    case 'resource_view':
      return [[from.handle, entry.at('resource')]]
    case 'presenter':
      return [[from.fact, entry.at('presenter')]]
    case 'tool':
      return textsIn(from.arguments, entry.at('tool', 'arguments'))
  }
}

function textsIn(value: unknown, part: FrontMatterPart): readonly PlacedText[] {
  if (typeof value === 'string') return [[value, part]]
  if (typeof value !== 'object' || value === null) return []
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    textsIn(inner, part.at(isList ? Number(key) : key)),
  )
}
