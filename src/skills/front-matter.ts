import { isUtf8 } from 'node:buffer'
import * as z from 'zod'
import { definedFields } from '../model/fields/defined-fields.ts'
import { LIMITS } from '../model/limits.ts'
import { declaredSources } from './declared-sources.ts'
import { FrontMatterPart, quotedName } from './front-matter-part.ts'
import type { SkillFields, SkillFinding, SkillFrontMatter } from './skill.ts'

/** A parsed SKILL.md. */
export interface ParsedSkill extends SkillFrontMatter {
  readonly body: Buffer
}

/** Parses a SKILL.md in the folder `name`. Never throws, whatever the bytes are, and runs nothing. */
export function parseSkill(bytes: Buffer, name: string): ParsedSkill {
  const { yaml, body } = splitSkill(bytes)
  const problem = unreadable(bytes, yaml)
  if (typeof yaml === 'string' || problem !== undefined) {
    return { fields: undefined, findings: problem === undefined ? [] : [problem], body }
  }
  const whole = FrontMatterPart.of(yaml.toString('utf8'))
  const fields = whole.findings.some(isError) ? undefined : fieldsOf(whole, name)
  const findings = whole.findings.toSorted((a, b) => a.line - b.line)
  return { fields: findings.some(isError) ? undefined : fields, findings, body }
}

/** The text of a SKILL.md after its front matter, which is not parsed; everything if it has none. */
export function skillBody(bytes: Buffer): Buffer {
  return splitSkill(bytes).body
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
  const read = whole.check(FrontMatter, withoutEmpty(whole.fields))
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

/** Why the front matter cannot be parsed. */
function unreadable(bytes: Buffer, yaml: Buffer | string): SkillFinding | undefined {
  const { skill_file_bytes, skill_front_matter_bytes } = LIMITS
  if (typeof yaml === 'string') return errorAt(yaml)
  if (bytes.length > skill_file_bytes)
    return errorAt(`The file has more than ${skill_file_bytes} bytes.`)
  if (yaml.length > skill_front_matter_bytes)
    return errorAt(`The front matter has more than ${skill_front_matter_bytes} bytes.`)
  return isUtf8(bytes) ? undefined : errorAt('The file is not valid UTF-8.', brokenLine(bytes))
}

function errorAt(message: string, line = 1): SkillFinding {
  return { severity: 'error', line, message }
}

/** The first line that is not valid UTF-8. */
function brokenLine(bytes: Buffer): number {
  let line = 1
  for (let start = 0; start < bytes.length; line += 1) {
    const { end, next } = lineAt(bytes, start)
    if (!isUtf8(bytes.subarray(start, end))) return line
    start = next
  }
  return line
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const NEWLINE = 0x0a

/**
 * Cuts a SKILL.md at the two `---` lines; `yaml` is a message if they are missing, and then everything is body. Lines may end
 * with CRLF, and a byte order mark is ignored.
 */
function splitSkill(bytes: Buffer): { readonly yaml: Buffer | string; readonly body: Buffer } {
  const text = bytes.subarray(0, 3).equals(BOM) ? bytes.subarray(3) : bytes
  const first = lineAt(text, 0)
  if (!isFence(text.subarray(0, first.end)))
    return { yaml: 'The file has no front matter: its first line must be "---".', body: text }
  for (let start = first.next; start < text.length;) {
    const { end, next } = lineAt(text, start)
    if (isFence(text.subarray(start, end)))
      return { yaml: text.subarray(first.next, start), body: text.subarray(next) }
    start = next
  }
  return { yaml: 'The front matter has no end: write a line "---" after it.', body: text }
}

/** Where the line from `start` ends, and where the next one starts. */
function lineAt(text: Buffer, start: number): { readonly end: number; readonly next: number } {
  const newline = text.indexOf(NEWLINE, start)
  return newline === -1
    ? { end: text.length, next: text.length }
    : { end: newline, next: newline + 1 }
}

function isFence(line: Buffer): boolean {
  // Compared as bytes first: a line may be very long.
  return line.length >= 3 && line.length < 64 && /^---[ \t\r]*$/.test(line.toString('latin1'))
}

function isError({ severity }: SkillFinding): boolean {
  return severity === 'error'
}

function longer(length: number): string {
  return `has more than ${length} characters`
}
