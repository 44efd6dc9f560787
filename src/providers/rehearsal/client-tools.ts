import { isJsonObject } from '../../encoding/json.ts'
import type { Call } from './english/call.ts'

// Other clients of the rehearsal server have their own tools for the same tasks.

type Parameters = Readonly<Record<string, unknown>>

/**
 * Translates a call to an offered tool: this program's own, another client's equivalent, or one that runs commands. Returns
 * `undefined` if none is offered. Pure.
 */
export function offeredCall(call: Call, tools: ReadonlyMap<string, Parameters>): Call | undefined {
  const direct = renameCall(call, tools)
  if (direct !== undefined) return direct
  const command = asCommand(call)
  if (command === undefined) return undefined
  return renameCall({ name: 'bash', arguments: { command } }, tools)
}

/** Names of equivalent tools, this program's first. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  read: ['read', 'Read', 'read_file'],
  write: ['write', 'Write', 'write_file'],
  edit: ['edit', 'Edit'],
  bash: ['bash', 'Bash', 'shell', 'shell_command', 'exec_command'],
  glob: ['glob', 'Glob'],
  grep: ['grep', 'Grep'],
}

/** Names of equivalent arguments. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  path: ['path', 'file_path'],
  old_text: ['old_text', 'old_string', 'oldText'],
  new_text: ['new_text', 'new_string', 'newText'],
  command: ['command', 'cmd'],
  from_line: ['from_line', 'offset'],
}

function renameCall({ name, arguments: own }: Call, tools: ReadonlyMap<string, Parameters>) {
  const tool = (NAMES[name] ?? [name]).find((one) => tools.has(one))
  if (tool === undefined) return undefined
  const properties = propertiesOf(tools.get(tool))
  if (properties === undefined) return { name: tool, arguments: own }
  const args = 'edits' in properties ? own : withoutList(own)
  return { name: tool, arguments: inTermsOf(properties, args) }
}

/** Other clients, and earlier surfaces of this program, accept one replacement next to the path. */
function withoutList({ edits, ...rest }: Parameters): Parameters {
  const only: unknown = Array.isArray(edits) ? edits[0] : undefined
  return isJsonObject(only) ? { ...rest, ...only } : rest
}

function propertiesOf(schema: unknown): Parameters | undefined {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined
  return isJsonObject(properties) ? properties : undefined
}

/** Renames arguments to the names in a schema; arguments that it lacks are omitted. */
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

/** Some clients accept a command as a list of words. */
function asSchema(value: unknown, schema: unknown): unknown {
  if (!isJsonObject(schema)) return value
  if (schema['type'] === 'array' && typeof value === 'string') return ['bash', '-c', value]
  const properties = propertiesOf(schema['items'])
  if (!Array.isArray(value) || properties === undefined) return value
  return value.map((item: unknown) => (isJsonObject(item) ? inTermsOf(properties, item) : item))
}

/** An equivalent read-only shell command. */
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

/** Translates a call of any client's tool to this program's names, so that all calls are described in the same way. Pure. */
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

/** In a list of words such as `bash -c COMMAND`, the last is the command. */
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
