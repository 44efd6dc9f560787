import * as z from 'zod'
import type { ContextSource } from '../model/events/context-source.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import { LIMITS } from '../model/limits.ts'
import { declaredSources } from './declared-sources.ts'
import { FrontMatterPart, quotedName } from './front-matter-part.ts'
import { brokenLine, splitSkill, type Finding } from './split-skill.ts'

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
  const whole = FrontMatterPart.of(yaml.toString('utf8'))
  const fields = whole.findings.some(isError) ? undefined : fieldsOf(whole, name)
  const findings = whole.findings.toSorted((a, b) => a.line - b.line)
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

function fieldsOf(whole: FrontMatterPart, name: string): SkillFields | undefined {
  if (whole.fields === undefined)
    return whole.error('The front matter must have keys and values, such as "description: …".')
  const read = whole.checked(FrontMatter, withoutEmpty(whole.fields))
  if (read === undefined) return undefined
  if (read.name !== name) {
    const message = `The name ${quotedName(read.name)} is ignored: the Skill is named as its folder, ${quotedName(name)}.`
    whole.at('name').warning(message)
  }
  return {
    description: read.description,
    ...definedFields({ when_to_use: read.when_to_use === '' ? undefined : read.when_to_use }),
    forModel: !read['disable-model-invocation'],
    context_sources: declaredSources(whole.at('context_sources')),
    allowed_tools: allowedTools(whole.at('allowed-tools'), read['allowed-tools']),
    metadata: metadataOf(whole.at('metadata'), Object.keys(read.metadata)),
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
  metadata: FrontMatterPart,
  keys: readonly string[],
): Readonly<Record<string, string>> {
  const entries = keys.flatMap((key) => {
    const value = metadata.at(key)
    if (value.text === undefined)
      value.warning(`metadata ${quotedName(key)} is ignored: not a text.`)
    return value.text === undefined ? [] : [[key, value.text] as const]
  })
  return Object.fromEntries(entries)
}

const MOST_TOOLS = 64
const TOOL_LENGTH = 256

/** A list, or one text with spaces or commas between the entries. What cannot name a call permits nothing. */
function allowedTools(part: FrontMatterPart, written: string | readonly string[]): string[] {
  // Separators inside parentheses belong to the entry, as in `Bash(git diff:*)`.
  const entries =
    typeof written === 'string'
      ? (written.match(/[^\s,()]+(\([^()]*\))?|[()]/g) ?? [])
      : written.map((one) => one.trim())
  if (entries.length > MOST_TOOLS) part.wrong(`has more than ${MOST_TOOLS} entries`)
  const valid = entries.filter((entry) => {
    const isValid = entry.length <= TOOL_LENGTH && /^[A-Za-z][\w*-]*(\([^()]*\))?$/.test(entry)
    if (!isValid) part.warning(`The entry ${quotedName(entry)} of "allowed-tools" is ignored.`)
    return isValid
  })
  return [...new Set(valid)]
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
