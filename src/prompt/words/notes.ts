import { nameInBrackets, quote } from '../../encoding/quote.ts'
import { namedInstructions } from './instructions.ts'

// The texts about the current context and the end of Turns that a model reads. Every sentence of this
// folder is part of the Prompt Contract: see `version.ts`.

interface LateFacts {
  readonly workspace: string
  readonly folder?: string | undefined
  readonly branch?: string | undefined
  readonly mode: string
  readonly permission_mode: string
  readonly date: string
  readonly zone?: string | undefined
  readonly os?: string | undefined
  readonly shell?: string | undefined
  readonly instructions?: Parameters<typeof namedInstructions>[0]
  readonly more_instructions?: boolean | undefined
}

/** The first line of late context. */
export const LATE_HEADING = 'Current context (replaces any earlier one):'

export function lateContext(facts: LateFacts): string {
  const { workspace, folder, branch, mode, permission_mode, date, zone, os, shell } = facts
  return lines([
    LATE_HEADING,
    `workspace: ${quote(workspace)}`,
    folder === undefined
      ? undefined
      : `folder: ${quote(folder)} (the person is here and commands start here; file paths are relative to the workspace)`,
    branch === undefined ? undefined : `branch: ${quote(branch)}`,
    `mode: ${mode}`,
    `permission: ${permission_mode}`,
    zone === undefined ? `date: ${date}` : `date: ${date} (${zone})`,
    os === undefined ? undefined : `os: ${os}`,
    shell === undefined ? undefined : `shell: ${shell}`,
    ...namedInstructions(facts.instructions, facts.more_instructions),
  ])
}

/** A message of a named sender. A message of images alone has no text. */
export function sentBy(name: string, text: string, limit: number): string {
  const label = `${nameInBrackets(name, limit)}:`
  return text === '' ? label : `${label} ${text}`
}

/** The byte count marks the end, even if the text contains a line like the last one. */
export function piped(text: string): string {
  const bytes = Buffer.byteLength(text)
  return lines([
    `[Standard input, piped in with this message, ${bytes} bytes:]`,
    text.endsWith('\n') ? text.slice(0, -1) : text,
    '[End of standard input]',
  ])
}

/** Text that a program sent with a message, such as the content of an editor. Its end is marked like that of piped text. */
export function embedded(name: string, text: string): string {
  const bytes = Buffer.byteLength(text)
  return lines([
    `[Embedded in this message: ${quote(name)}, ${bytes} bytes:]`,
    text.endsWith('\n') ? text.slice(0, -1) : text,
    '[End of embedded text]',
  ])
}

/** The label says when the facts held: they stay in their message, also when later ones differ. */
export function presenterContext(context: Readonly<Record<string, string>>): string {
  const facts = Object.entries(context).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return lines([
    'From the program that shows this Session (as of this message; not authoritative):',
    ...facts.map(([key, value]) => `${quote(key)}: ${quote(value)}`),
  ])
}

interface UndoFacts {
  readonly by: string
  /** The Turns are of another branch: this Conversation does not have them. */
  readonly rewound_from?: string | undefined
  readonly files: readonly {
    readonly path: string
    readonly before_blob?: string | undefined
    readonly outcome: 'restored' | 'changed_since' | 'failed'
    readonly why?: string | undefined
  }[]
}

export function filesRestored({ by, rewound_from, files }: UndoFacts): string {
  return lines([
    rewound_from === undefined
      ? `The ${by} undid file changes of an earlier Turn:`
      : `The ${by} withdrew the Turns that followed here, and undid their file changes:`,
    ...files.map(({ path, before_blob, outcome, why }) => {
      const undone =
        before_blob === undefined ? 'removed, because it did not exist before' : 'restored'
      const failed = why === 'redacted' ? 'a key in it is redacted' : 'an error occurred'
      const how = {
        restored: undone,
        changed_since: 'not restored, because it changed since that Turn',
        failed: `not restored, because ${failed}`,
      }[outcome]
      return `- ${quote(path)}: ${how}`
    }),
  ])
}

interface TurnEndFacts {
  readonly status: string
  readonly crash_recovered?: boolean | undefined
  readonly error?: { readonly kind: string } | undefined
  readonly cut?: Cut | undefined
}

interface Cut {
  readonly reason: 'output_limit' | 'lost_call' | 'unknown_reason'
  readonly lost_calls: number
}

/** A completed Turn ends with its answer; any other end has a sentence. */
export function turnEnded({
  status,
  crash_recovered,
  error,
  cut,
}: TurnEndFacts): string | undefined {
  if (crash_recovered === true) return '[This Turn ended with a crash.]'
  if (status === 'interrupted')
    return error?.kind === 'timeout'
      ? '[This Turn reached its time limit.]'
      : '[The person interrupted this Turn.]'
  if (status === 'failed') return `[This Turn failed: ${error?.kind ?? 'internal'}.]`
  return cut === undefined ? undefined : answerCut(cut)
}

function answerCut({ reason, lost_calls }: Cut): string {
  const how = {
    output_limit: 'was cut off at the output limit',
    lost_call: 'arrived incomplete',
    unknown_reason: 'may have been cut off',
  }[reason]
  const calls = lost_calls === 0 ? '' : ` Incomplete tool calls that did not run: ${lost_calls}.`
  return `[The last answer ${how}.${calls}]`
}

function lines(all: readonly (string | undefined)[]): string {
  return all.filter((line) => line !== undefined).join('\n')
}

/** After an answer that a lost connection cut off, when the same call is made again. */
export const ANSWER_AGAIN =
  'The connection failed during the answer above, and the person has seen that part. Give the whole answer again.'
