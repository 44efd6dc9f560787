import * as z from 'zod'
import type { SourceParameter } from '../model/events/context-source.ts'
import { isRecord, named, type FrontMatterReading } from './front-matter-reading.ts'
import { shown, type Path } from './yaml-tree.ts'

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

/** The parameters of a context source by name; `undefined` if one is invalid, which is reported to `reading`. */
export function declaredParameters(
  reading: FrontMatterReading,
  written: unknown,
  path: Path,
): Readonly<Record<string, SourceParameter>> | undefined {
  if (written === undefined) return {}
  if (!isRecord(written) || Object.keys(written).length > MOST_PARAMETERS) {
    reading.error(
      path,
      `${named(path)} must have at most ${MOST_PARAMETERS} keys, each with a type.`,
    )
    return undefined
  }
  const entries = Object.entries(written).map(([name, value]) => {
    const at = [...path, name]
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name)) {
      reading.error(at, `${shown(name)} is not a valid name of a parameter.`)
      return undefined
    }
    const parameter = reading.checked(DeclaredParameter, value, at)
    if (parameter === undefined) return undefined
    const wrong = contradiction(parameter)
    if (wrong !== undefined) reading.error(at, `${named(at)} ${wrong}.`)
    return [name, parameter] as const
  })
  const valid = entries.filter((entry) => entry !== undefined)
  return valid.length === entries.length ? Object.fromEntries(valid) : undefined
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
