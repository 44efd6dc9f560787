import * as z from 'zod'
import type { ContextSource } from '../model/events/context-source.ts'
import { LIMITS } from '../model/limits.ts'
import { allowedTools } from './allowed-tools.ts'
import { declaredSources } from './declared-sources.ts'
import { isRecord, FrontMatterReading } from './front-matter-reading.ts'
import { brokenLine, splitSkill, type Finding } from './split-skill.ts'
import { shown, yamlTree } from './yaml-tree.ts'

/** What the front matter of a usable Skill says. */
export interface SkillFields {
  readonly description: string
  readonly when_to_use?: string | undefined
  /** False if only a person may activate it. */
  readonly forModel: boolean
  readonly context_sources: readonly ContextSource[]
  readonly allowed_tools: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
}

/** A parsed SKILL.md. */
export interface ParsedSkill {
  /** `undefined` if there is an error among the findings. */
  readonly fields: SkillFields | undefined
  /** By line. */
  readonly findings: readonly Finding[]
  readonly body: Buffer
}

/** Parses a SKILL.md in the folder `name`. Never throws, whatever the bytes are, and runs nothing. */
export function parseSkill(bytes: Buffer, name: string): ParsedSkill {
  const { yaml, body, problem } = splitSkill(bytes)
  const unusable = problem ?? sizeProblem(bytes, yaml) ?? encodingProblem(bytes)
  if (yaml === undefined || unusable !== undefined) {
    return { fields: undefined, findings: unusable === undefined ? [] : [unusable], body }
  }
  const tree = yamlTree(yaml.toString('utf8'))
  const reading = new FrontMatterReading(tree)
  const fields = tree.findings.some(isError) ? undefined : fieldsOf(reading, name)
  const findings = reading.findings.toSorted((a, b) => a.line - b.line)
  return { fields: findings.some(isError) ? undefined : fields, findings, body }
}

const DESCRIPTION_LENGTH = 1024
const NAME_LENGTH = 64

const FrontMatter = z.object({
  name: z.string().min(1, 'is empty').max(NAME_LENGTH, longer(NAME_LENGTH)),
  description: z
    .string()
    .trim()
    .min(1, 'is empty')
    .max(DESCRIPTION_LENGTH, longer(DESCRIPTION_LENGTH)),
  when_to_use: z.string().trim().max(DESCRIPTION_LENGTH, longer(DESCRIPTION_LENGTH)).optional(),
  'disable-model-invocation': z.boolean('must be true or false').default(false),
  'allowed-tools': z
    .union(
      [z.string(), z.array(z.string())],
      'must be a list of names, or names with spaces between them',
    )
    .default([]),
  metadata: z.record(z.string(), z.unknown(), 'must have keys and values').default({}),
  context_sources: z
    .array(z.unknown(), 'must be a list')
    .max(LIMITS.skill_context_sources, `has more than ${LIMITS.skill_context_sources} entries`)
    .default([]),
  // Of the public format; they change nothing here.
  license: z.unknown().optional(),
  compatibility: z.unknown().optional(),
})

function fieldsOf(reading: FrontMatterReading, name: string): SkillFields | undefined {
  const { value } = reading.tree
  if (!isRecord(value)) {
    reading.error([], 'The front matter must have keys and values, such as "description: …".')
    return undefined
  }
  const read = reading.checked(FrontMatter, withoutEmpty(value), [])
  if (read === undefined) return undefined
  if (read.name !== name) {
    const message = `The name ${shown(read.name)} is ignored: the Skill is named as its folder, ${shown(name)}.`
    reading.warning(['name'], message)
  }
  return {
    description: read.description,
    ...(read.when_to_use === undefined || read.when_to_use === ''
      ? {}
      : { when_to_use: read.when_to_use }),
    forModel: !read['disable-model-invocation'],
    context_sources: declaredSources(reading, read.context_sources),
    allowed_tools: allowedTools(reading, read['allowed-tools']),
    metadata: metadataOf(reading, read.metadata),
  }
}

/** A key without a value is as good as none, except where it is probably a mistake of indentation. */
function withoutEmpty(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(value)
  const kept = entries.filter(([key, one]) => one !== null || key === 'context_sources')
  return Object.fromEntries(kept)
}

/** Texts by key; a number or a flag is taken as it is written. */
function metadataOf(
  reading: FrontMatterReading,
  metadata: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(metadata).flatMap(([key, value]) => {
    const path = ['metadata', key]
    const text = typeof value === 'string' ? value : reading.tree.sourceOf(path)
    if (text === undefined) reading.warning(path, `metadata ${shown(key)} is ignored: not a text.`)
    return text === undefined ? [] : [[key, text] as const]
  })
  return Object.fromEntries(entries)
}

function sizeProblem(bytes: Buffer, yaml: Buffer | undefined): Finding | undefined {
  const { skill_file_bytes, skill_front_matter_bytes } = LIMITS
  if (bytes.length > skill_file_bytes) return oversized('file', skill_file_bytes)
  const isOver = (yaml?.length ?? 0) > skill_front_matter_bytes
  return isOver ? oversized('front matter', skill_front_matter_bytes) : undefined
}

function oversized(what: string, limit: number): Finding {
  return { severity: 'error', line: 1, message: `The ${what} has more than ${limit} bytes.` }
}

function encodingProblem(bytes: Buffer): Finding | undefined {
  const line = brokenLine(bytes)
  return line === undefined
    ? undefined
    : { severity: 'error', line, message: 'The file is not valid UTF-8.' }
}

function isError({ severity }: Finding): boolean {
  return severity === 'error'
}

function longer(length: number): string {
  return `has more than ${length} characters`
}
