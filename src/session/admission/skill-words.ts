import { failed, ok, type Result } from '../../model/errors.ts'
import type { SkillRequest, SourceRequest } from '../../model/events/context-source.ts'

/** A Skill as far as a message can name it. */
export interface NameableSkill {
  readonly name: string
  readonly trust: string
}

/** The Skills that a message activates, and what the person should know about others that it names. */
export interface NamedSkills {
  readonly skills: readonly SkillRequest[]
  readonly notes: readonly string[]
}

/** The Skills that a text names. They are listed only if it may name one. See `skillsNamed`. */
export async function skillsIn(
  text: string,
  list: () => Promise<readonly NameableSkill[]>,
  reserved: readonly string[] = [],
): Promise<Result<NamedSkills>> {
  return mayNameSkills(text)
    ? skillsNamed(text, await list(), reserved)
    : ok({ skills: [], notes: [] })
}

export function mayNameSkills(text: string): boolean {
  return slashName(text) !== undefined || dollarWords(text).length > 0
}

/** The name in `/name` at the start of a text, whatever has that name. */
export function slashName(text: string): string | undefined {
  return SLASH.exec(text)?.[1]
}

/**
 * The Skills that a text names: `/name --with id:parameter=value,… arguments` at its start, and `$name` anywhere. Other
 * such words are text. A name in `reserved` is a command after a slash. Fails if the options after `/name` are malformed.
 * Pure.
 */
export function skillsNamed(
  text: string,
  known: readonly NameableSkill[],
  reserved: readonly string[],
): Result<NamedSkills> {
  const byName = new Map(known.map((skill) => [skill.name, skill]))
  const name = slashName(text)
  const isFirst = name !== undefined && byName.has(name) && !reserved.includes(name)
  const first = isFirst ? slashRequest(text, name) : undefined
  if (first?.ok === false) return first
  const mentioned = dollarWords(text).flatMap((word) => nameIn(word, byName))
  const others = [...new Set(mentioned)].filter((other) => !isFirst || other !== name)
  const isUntrusted = (other: string) => byName.get(other)?.trust === 'untrusted'
  return ok({
    skills: [
      ...(first === undefined ? [] : [first.value]),
      ...others.filter((other) => !isUntrusted(other)).map((other) => ({ name: other })),
    ],
    notes: others.filter(isUntrusted).map(untrustedNote),
  })
}

/** A person who only mentions such a Skill may not mean it. */
function untrustedNote(name: string): string {
  return `Skill ${name} is not trusted here, so $${name} is sent as text. To trust it: hawser skills trust ${name}`
}

const SLASH = /^\/([A-Za-z0-9][A-Za-z0-9_.-]{0,63})(?=\s|$)/

/** A `$` within a word is ignored. */
const DOLLAR = /(?<=^|[\s([{<"'“‘«,;:])\$([A-Za-z0-9][A-Za-z0-9_.-]{0,63})/gu

const MOST_WORDS = 100

function dollarWords(text: string): string[] {
  return [...text.matchAll(DOLLAR)].slice(0, MOST_WORDS).flatMap(([, word]) => word ?? [])
}

/** The word without punctuation at its end, which may also be part of a name. */
function nameIn(word: string, known: ReadonlyMap<string, unknown>): string[] {
  for (let name = word; name !== ''; name = name.slice(0, -1)) {
    if (known.has(name)) return [name]
    if (!/[._-]$/.test(name)) return []
  }
  return []
}

function slashRequest(text: string, name: string): Result<SkillRequest> {
  const sources: SourceRequest[] = []
  let rest = text.slice(1 + name.length).trimStart()
  for (;;) {
    const option = /^--with(?:\s+|$)/.exec(rest)
    if (option === null) break
    const spelt = sourceAt(rest.slice(option[0].length))
    if (typeof spelt === 'string') return malformedCommand(name, spelt)
    sources.push(spelt.source)
    rest = spelt.rest.trimStart()
  }
  // Arguments that begin with --with follow a word of two dashes.
  const args = rest.replace(/^--(?:\s+|$)/, '').trim()
  return ok({
    name,
    ...(args === '' ? {} : { args }),
    ...(sources.length === 0 ? {} : { with: sources }),
  })
}

/** The source at the start of a text, and what follows; or what is wrong. */
function sourceAt(text: string): { source: SourceRequest; rest: string } | string {
  const id = /^[^\s:,="]+/.exec(text)?.[0]
  if (id === undefined) return '--with needs the id of a context source'
  let rest = text.slice(id.length)
  if (!rest.startsWith(':'))
    return isEnd(rest) ? { source: { id }, rest } : unexpectedCharacter(rest)
  const args = new Map<string, string>()
  do {
    const found = /^[:,]([^\s:,="]+)=("(?:[^"\\]|\\.)*"|[^\s,"]*)/s.exec(rest)
    const [whole = '', parameter = '', value = ''] = found ?? []
    if (found === null) return `expected PARAMETER=VALUE after ${rest.slice(0, 1)}`
    if (args.has(parameter)) return `the parameter ${parameter} occurs twice`
    args.set(parameter, unquote(value))
    rest = rest.slice(whole.length)
  } while (rest.startsWith(','))
  if (!isEnd(rest)) return unexpectedCharacter(rest)
  return { source: { id, args: Object.fromEntries(args) }, rest }
}

function isEnd(rest: string): boolean {
  return rest === '' || /^\s/.test(rest)
}

function unexpectedCharacter(rest: string): string {
  return `unexpected ${rest.slice(0, 1)}`
}

/** Inside quotes, a backslash makes the next character literal. */
function unquote(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : value
}

function malformedCommand(name: string, what: string): Result<never> {
  return failed('invalid_args', `/${name}: ${what}.`, { skill: name }, [
    { action: `Write /${name} --with ID:PARAMETER=VALUE,… ARGUMENTS. Quote a value with spaces.` },
  ])
}
