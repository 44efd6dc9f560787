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

function renamed({ name, arguments: args }: Call, tools: ReadonlyMap<string, Parameters>) {
  const tool = (NAMES[name] ?? [name]).find((one) => tools.has(one))
  if (tool === undefined) return undefined
  const properties = propertiesOf(tools.get(tool) ?? {})
  if (
    tool === name &&
    (properties === undefined || Object.keys(args).every((key) => key in properties))
  )
    return { name, arguments: args }
  const entries = Object.entries(args).flatMap(([key, value]): [string, unknown][] => {
    if (properties === undefined) return [[key, value]]
    if (key === 'to_line' && 'limit' in properties) {
      return [['limit', Number(value) - Number(args['from_line'] ?? 1) + 1]]
    }
    const own = (ARGUMENTS[key] ?? [key]).find((one) => one in properties)
    return own === undefined ? [] : [[own, asSchema(value, properties[own])]]
  })
  return { name: tool, arguments: Object.fromEntries(entries) }
}

function propertiesOf(parameters: Parameters): Parameters | undefined {
  const { properties } = { properties: undefined, ...parameters }
  return isJsonObject(properties) ? properties : undefined
}

/** Some take a command as a list of words. */
function asSchema(value: unknown, schema: unknown): unknown {
  const takesList = isJsonObject(schema) && schema['type'] === 'array'
  return takesList && typeof value === 'string' ? ['bash', '-c', value] : value
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

/** A call of another client's tool in this program's terms, so that there is one way to speak about it. Pure. */
export function ownCall({ name, arguments: args }: Call): Call {
  const own = Object.entries(NAMES).find(([, names]) => names.includes(name))?.[0]
  if (own === undefined || own === name) return { name, arguments: args }
  const entries = Object.entries(args).map(([key, value]): [string, unknown] => {
    const known = Object.entries(ARGUMENTS).find(([, names]) => names.includes(key))?.[0]
    return [known ?? key, Array.isArray(value) ? value.at(-1) : value]
  })
  return { name: own, arguments: Object.fromEntries(entries) }
}
