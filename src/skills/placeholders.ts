import type { SourceOrigin, SourceParameter } from '../model/events/context-source.ts'
import { named, type FrontMatterReading } from './front-matter-reading.ts'
import { shown, type Path } from './yaml-tree.ts'

/**
 * Checks that a `{name}` is a whole argument and names a declared parameter, and that the program of a command is fixed.
 * Other braces, as in `HEAD@{upstream}`, are text.
 */
export function checkPlaceholders(
  reading: FrontMatterReading,
  from: SourceOrigin,
  parameters: Readonly<Record<string, SourceParameter>>,
  path: Path,
): void {
  const used = new Set<string>()
  for (const { text, at } of textsOf(from, path)) {
    const whole = /^\{([^{}]*)\}$/.exec(text)?.[1]
    if (whole !== undefined) {
      used.add(whole)
      if (Object.hasOwn(parameters, whole)) continue
      reading.error(at, `${named(at)} is an undeclared parameter: ${shown(text)}.`)
    }
    const part = Object.keys(parameters).find((name) => text.includes(`{${name}}`))
    if (part === undefined) continue
    const message = `${named(at)} has the parameter ${shown(part)} as a part; a parameter is a whole argument.`
    reading.error(at, message)
    used.add(part)
  }
  const [program = ''] = from.kind === 'command' ? from.argv : []
  if (program.startsWith('{')) {
    reading.error([...path, 'command'], 'The program of a command cannot be a parameter.')
  }
  for (const name of Object.keys(parameters)) {
    if (used.has(name)) continue
    reading.warning([...path, 'parameters', name], `The parameter ${shown(name)} is not used.`)
  }
}

interface PlacedText {
  readonly text: string
  readonly at: Path
}

/** Every text that may be a parameter. */
function textsOf(from: SourceOrigin, path: Path): readonly PlacedText[] {
  switch (from.kind) {
    case 'command':
      return from.argv.map((text, index) => ({ text, at: [...path, 'command', index] }))
    case 'file':
      return [{ text: from.path, at: [...path, 'file'] }]
    case 'resource_view':
      return [{ text: from.handle, at: [...path, 'resource'] }]
    case 'presenter':
      return [{ text: from.fact, at: [...path, 'presenter'] }]
    case 'tool':
      return textsIn(from.arguments, [...path, 'tool', 'arguments'])
  }
}

function textsIn(value: unknown, at: Path): readonly PlacedText[] {
  if (typeof value === 'string') return [{ text: value, at }]
  if (typeof value !== 'object' || value === null) return []
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    textsIn(inner, [...at, isList ? Number(key) : key]),
  )
}
