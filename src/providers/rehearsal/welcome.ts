import type { Call } from './english/call.ts'
import { understand } from './english/understand.ts'
import type { CallRecord } from './task.ts'

/** The call that finds files for the suggestions. */
export const LIST_FILES: Call = { name: 'glob', arguments: { pattern: '*' } }

/** The facts that the suggestions are based on. */
export interface Surroundings {
  /** Paths of files in the workspace. */
  readonly files: readonly string[]
  /** Handles of images and documents in the conversation. */
  readonly handles: readonly string[]
}

/** The answer to a text that is not a command: what this model is, three things to try, and how to use a real one. Pure. */
export function welcome(surroundings: Surroundings): string {
  const [first = '', second = '', third = ''] = suggestions(surroundings)
  return [
    'I am the offline demo model of Hawser: I follow simple commands, and I am not a language model, so I have no answer to that.',
    `Here are three things to try: “${first}”, “${second}” or “${third}”.`,
    'For a real model, export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=… and start Hawser again; the command hawser models lists the models.',
  ].join(' ')
}

/** Three commands that can be typed unchanged. Each is checked against the grammar before it is suggested. */
function suggestions({ files, handles }: Surroundings): string[] {
  const [file] = files.toSorted((a, b) => interest(b) - interest(a) || a.length - b.length)
  const folder = files.map((path) => path.split('/')[0] ?? '').find((one) => !files.includes(one))
  const free = ['hello.txt', 'hello-again.txt'].find((name) => !files.includes(name))
  const all = [
    ...handles.slice(-1).map((handle) => `look at ${handle}`),
    ...(file === undefined ? [] : [`read ${shownPath(file)}`]),
    folder === undefined ? 'list the files' : `list the files in ${shownPath(folder)}`,
    ...(free === undefined ? [] : [`write "hello" to ${free}`]),
    'run ls -la',
    'list the files',
    'search for TODO',
  ]
  return [...new Set(all)].filter(isCommand).slice(0, 3)
}

function shownPath(path: string): string {
  return /^[\w./-]+$/.test(path) && /[./]/.test(path) ? path : `"${path}"`
}

/** Ranks a readme first, then other text files, then code near the root. */
function interest(path: string): number {
  const depth = path.split('/').length
  const text = /(?:^|\/)readme/i.test(path) ? 40 : /\.(?:md|txt)$/i.test(path) ? 20 : 0
  return text + (/\.\w+$/.test(path) ? 10 : 0) - depth
}

function isCommand(text: string): boolean {
  const { groups, notUnderstood } = understand([text])
  return groups.length === 1 && notUnderstood === undefined
}

const MOST_FILES = 500

/** The files that appear in listings of the conversation, or that it read or wrote. */
export function filesIn(calls: readonly CallRecord[]): string[] {
  const files = calls.flatMap(({ name, arguments: args, result }) => {
    if (result?.outcome !== 'ok') return []
    const { path } = { path: undefined, ...args }
    if (name === 'read' || name === 'write' || name === 'edit')
      return typeof path === 'string' ? [path] : []
    return name === 'glob' && path === undefined ? fileNames(result.output) : []
  })
  return [...new Set(files)]
}

/** Skips notes in brackets, and names that look like a secret or contain a control character. */
function fileNames(output: string): string[] {
  const lines = output
    .slice(0, 100 * MOST_FILES)
    .split('\n')
    .slice(0, MOST_FILES)
  return lines
    .map((line) => line.trim().replace(/^\.\//, ''))
    .filter((line) => /^[\p{L}\p{N}_][\p{L}\p{N}_ ./@+-]{0,120}$/u.test(line))
}
