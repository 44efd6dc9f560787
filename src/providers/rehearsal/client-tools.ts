import { isJsonObject } from '../../encoding/json.ts'
import type { Call } from './english/call.ts'

// Other clients that speak to the rehearsal server have tools of their own for the same things.

type Parameters = Readonly<Record<string, unknown>>

/**
 * The call in the terms of the tools on offer: of this program's own tool, of another client's for the same thing, or of one
 * that runs commands. `undefined` when none of them is there. Pure.
 */
export function offeredCall(call: Call, tools: ReadonlyMap<string, Parameters>): Call | undefined {
  const direct = renamed(call, tools)
  if (direct !== undefined) return direct
  const command = asCommand(call)
  if (command === undefined) return undefined
  return renamed({ name: 'bash', arguments: { command } }, tools)
}

/** Names of tools by what they do; this program's first. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  read: ['read', 'Read', 'read_file'],
  write: ['write', 'Write', 'write_file'],
  edit: ['edit', 'Edit'],
  bash: ['bash', 'Bash', 'shell', 'shell_command', 'exec_command'],
  glob: ['glob', 'Glob'],
  grep: ['grep', 'Grep'],
}

/** Names of arguments by what they hold. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  path: ['path', 'file_path'],
  old_text: ['old_text', 'old_string', 'oldText'],
  new_text: ['new_text', 'new_string', 'newText'],
  command: ['command', 'cmd'],
  from_line: ['from_line', 'offset'],
}

function renamed({ name, arguments: own }: Call, tools: ReadonlyMap<string, Parameters>) {
  const tool = (NAMES[name] ?? [name]).find((one) => tools.has(one))
  if (tool === undefined) return undefined
  const properties = propertiesOf(tools.get(tool))
  if (properties === undefined) return { name: tool, arguments: own }
  const args = 'edits' in properties ? own : withoutList(own)
  return { name: tool, arguments: inTermsOf(properties, args) }
}

/** Others, and this program in an earlier surface, take one replacement beside the path. */
function withoutList({ edits, ...rest }: Parameters): Parameters {
  const only: unknown = Array.isArray(edits) ? edits[0] : undefined
  return isJsonObject(only) ? { ...rest, ...only } : rest
}

function propertiesOf(schema: unknown): Parameters | undefined {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined
  return isJsonObject(properties) ? properties : undefined
}

/** Arguments by the names that a schema has for them; what it has no name for is left out. */
function inTermsOf(properties: Parameters, args: Parameters): Parameters {
  const entries = Object.entries(args).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'to_line' && 'limit' in properties) {
      return [['limit', Number(value) - Number(args['from_line'] ?? 1) + 1]]
    }
    const name = (ARGUMENTS[key] ?? [key]).find((one) => one in properties)
    return name === undefined ? [] : [[name, asSchema(value, properties[name])]]
  })
  return Object.fromEntries(entries)
}

/** Some take a command as a list of words. */
function asSchema(value: unknown, schema: unknown): unknown {
  if (!isJsonObject(schema)) return value
  if (schema['type'] === 'array' && typeof value === 'string') return ['bash', '-c', value]
  const properties = propertiesOf(schema['items'])
  if (!Array.isArray(value) || properties === undefined) return value
  return value.map((item: unknown) => (isJsonObject(item) ? inTermsOf(properties, item) : item))
}

/** A shell command that does the same without changing anything. */
function asCommand({ name, arguments: args }: Call): string | undefined {
  const path = word(args['path'] ?? '.')
  switch (name) {
    case 'read':
      return args['to_line'] === undefined
        ? `cat ${path}`
        : `sed -n ${Number(args['from_line'] ?? 1)},${Number(args['to_line'])}p ${path}`
    case 'glob':
      return `find ${path} -type f -name ${word(String(args['pattern']).replace(/^.*\//, ''))}`
    case 'grep':
      return `grep -rnE ${word(args['pattern'])} ${path}`
    default:
      return undefined
  }
}

function word(value: unknown): string {
  const text = String(value)
  return /^[\w./@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A call in this program's terms, whoever's tool it is, so that there is one way to speak about it. Pure. */
export function ownCall({ name, arguments: args }: Call): Call {
  const own = Object.entries(NAMES).find(([, names]) => names.includes(name))?.[0]
  if (own === undefined) return { name, arguments: args }
  return { name: own, arguments: withList(inOwnTerms(args)) }
}

function inOwnTerms(args: Parameters): Parameters {
  const entries = Object.entries(args).map(([key, value]): [string, unknown] => {
    const known = Object.entries(ARGUMENTS).find(([, names]) => names.includes(key))?.[0]
    return [known ?? key, Array.isArray(value) ? ownList(value) : value]
  })
  return Object.fromEntries(entries)
}

/** A command as a list of words is its last word. */
function ownList(values: readonly unknown[]): unknown {
  const last = values.at(-1)
  if (typeof last === 'string') return last
  return values.map((item) => (isJsonObject(item) ? inOwnTerms(item) : item))
}

function withList(args: Parameters): Parameters {
  const { old_text, new_text, replace_all, ...rest } = args
  if (old_text === undefined) return args
  const all = replace_all === undefined ? {} : { replace_all }
  return { ...rest, edits: [{ old_text, new_text, ...all }] }
}
