import type * as z from 'zod'
import type { Finding } from './split-skill.ts'
import { shown, type Path, type YamlTree } from './yaml-tree.ts'

/** A front matter being read, and what was found wrong with it so far. */
export class FrontMatterReading {
  readonly findings: Finding[]
  readonly tree: YamlTree

  constructor(tree: YamlTree) {
    this.tree = tree
    this.findings = [...tree.findings]
  }

  error(path: Path, message: string): void {
    this.findings.push({ severity: 'error', line: this.tree.lineOf(path), message })
  }

  warning(path: Path, message: string): void {
    this.findings.push({ severity: 'warning', line: this.tree.lineOf(path), message })
  }

  /** Checks the value at a path. Keys that the schema lacks are warnings; `undefined` if anything else is wrong. */
  checked<T extends z.ZodObject>(schema: T, value: unknown, path: Path): z.infer<T> | undefined {
    const parsed = schema.safeParse(value)
    for (const { path: inner, message } of parsed.error?.issues ?? []) {
      const whole = [...path, ...inner.filter((part) => typeof part !== 'symbol')]
      const isMissing = valueAt(value, inner) === undefined
      this.error(whole, `${named(whole)} ${isMissing ? 'is missing' : predicate(message)}.`)
    }
    const unknown = Object.keys(isRecord(value) ? value : {}).filter(
      (key) => !Object.hasOwn(schema.shape, key),
    )
    for (const key of unknown) this.warning([...path, key], `Unknown key ${shown(key)} is ignored.`)
    return parsed.data
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A part of the front matter, for a message: `"context_sources[0].id"`. */
export function named(path: Path): string {
  const words = path.map((part, at) => {
    if (typeof part === 'number') return `[${part}]`
    return at === 0 ? part : `.${part}`
  })
  return shown(words.join(''))
}

/** Our messages continue "it …"; those of the validator are sentences. */
function predicate(message: string): string {
  return /^[a-z]/.test(message) ? message : `is invalid: ${message.replace(/^Invalid input: /, '')}`
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value
  for (const part of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.entries(found).find(([key]) => key === String(part))?.[1]
  }
  return found
}
