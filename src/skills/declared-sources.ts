import * as z from 'zod'
import type { ContextSource, SourceOrigin } from '../model/events/context-source.ts'
import { LIMITS } from '../model/limits.ts'
import { declaredParameters } from './declared-parameters.ts'
import { checkPlaceholders } from './placeholders.ts'
import { isRecord, named, type FrontMatterReading } from './front-matter-reading.ts'
import { shown, type Path } from './yaml-tree.ts'

/** The context sources that a front matter declares, with their defaults. What is wrong is reported to `reading`. */
export function declaredSources(
  reading: FrontMatterReading,
  entries: readonly unknown[],
): ContextSource[] {
  const sources = entries.flatMap((entry, at) => {
    const source = sourceOf(reading, entry, ['context_sources', at])
    return source === undefined ? [] : [source]
  })
  const ids = new Set<string>()
  for (const [at, { id }] of sources.entries()) {
    if (ids.has(id)) reading.error(['context_sources', at], `The id ${shown(id)} is there twice.`)
    ids.add(id)
  }
  return sources
}

const ORIGINS = ['command', 'file', 'resource', 'presenter', 'tool'] as const
type Origin = (typeof ORIGINS)[number]

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

function sourceOf(
  reading: FrontMatterReading,
  entry: unknown,
  path: Path,
): ContextSource | undefined {
  if (!isRecord(entry)) {
    reading.error(path, `${named(path)} must have keys and values.`)
    return undefined
  }
  const read = reading.checked(DeclaredSource, entry, path)
  const from = originOf(reading, entry, path)
  const parameters = declaredParameters(reading, entry['parameters'], [...path, 'parameters'])
  if (read === undefined || from === undefined || parameters === undefined) return undefined
  checkPlaceholders(reading, from, parameters, path)
  const open = Object.entries(parameters).find(([, { default: given }]) => given === undefined)
  if (read.auto && open !== undefined) {
    const message = `${named([...path, 'auto'])} is not possible: the parameter ${shown(open[0])} has no default.`
    reading.error([...path, 'auto'], message)
  }
  return {
    id: read.id,
    ...(read.description === undefined ? {} : { description: read.description }),
    from,
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    max_bytes: read.max_bytes,
    timeout_ms: Math.round(read.timeout_s * 1000),
    ...(read.auto ? { auto: true } : {}),
  }
}

function originOf(
  reading: FrontMatterReading,
  entry: Readonly<Record<string, unknown>>,
  path: Path,
): SourceOrigin | undefined {
  const given = ORIGINS.filter((origin) => Object.hasOwn(entry, origin))
  const [origin] = given
  if (origin === undefined || given.length > 1) {
    reading.error(path, `${named(path)} must have exactly one of ${ORIGINS.join(', ')}.`)
    return undefined
  }
  const at = [...path, origin]
  const value = entry[origin]
  if (origin === 'command') return commandOf(reading, value, at)
  if (origin === 'tool') return toolOf(reading, value, at)
  if (typeof value !== 'string' || value === '' || hasControls(value)) {
    reading.error(at, `${named(at)} must be a text on one line.`)
    return undefined
  }
  return textOrigin(reading, origin, value, at)
}

function textOrigin(
  reading: FrontMatterReading,
  origin: Exclude<Origin, 'command' | 'tool'>,
  value: string,
  path: Path,
): SourceOrigin {
  switch (origin) {
    case 'file':
      if (leavesWorkspace(value)) {
        const message = `${named(path)} is outside the workspace, so it is always refused: ${shown(value)}.`
        reading.warning(path, message)
      }
      return { kind: 'file', path: value }
    case 'resource':
      return { kind: 'resource_view', handle: value }
    case 'presenter':
      return { kind: 'presenter', fact: value }
  }
}

/** By its text alone; hydration checks again where the path leads. */
function leavesWorkspace(path: string): boolean {
  return path.startsWith('/') || path.startsWith('~') || path.split(/[\\/]/).includes('..')
}

function commandOf(
  reading: FrontMatterReading,
  value: unknown,
  path: Path,
): SourceOrigin | undefined {
  if (!Array.isArray(value)) {
    const example = 'such as [git, diff, HEAD]'
    const why = typeof value === 'string' ? 'There is no shell: write' : 'Write'
    reading.error(
      path,
      `${named(path)} must be a list. ${why} the program and its arguments, ${example}.`,
    )
    return undefined
  }
  const argv = value.map((item, at) => argumentOf(reading, item, [...path, at]))
  if (argv.length === 0) reading.error(path, `${named(path)} is empty.`)
  else if (argv[0] === '') reading.error(path, `${named(path)} has no program.`)
  return { kind: 'command', argv: argv.map((argument) => argument ?? '') }
}

/** A number or a flag is an argument as it is written. */
function argumentOf(reading: FrontMatterReading, item: unknown, path: Path): string | undefined {
  const text = typeof item === 'string' ? item : reading.tree.sourceOf(path)
  if (text !== undefined && !text.includes('\0')) return text
  const braces = isRecord(item) ? ' Put a parameter in quotes: "{name}".' : ''
  reading.error(path, `${named(path)} must be a text.${braces}`)
  return undefined
}

const DeclaredTool = z.object({
  name: z.string().regex(/^[A-Za-z][\w-]{0,63}$/, 'must be the name of a tool'),
  arguments: z.record(z.string(), z.unknown(), 'must have keys and values').default({}),
})

function toolOf(reading: FrontMatterReading, value: unknown, path: Path): SourceOrigin | undefined {
  if (!isRecord(value)) {
    reading.error(path, `${named(path)} must have a name, and arguments if it needs some.`)
    return undefined
  }
  const tool = reading.checked(DeclaredTool, value, path)
  return tool === undefined
    ? undefined
    : { kind: 'tool', name: tool.name, arguments: tool.arguments }
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text)
}
