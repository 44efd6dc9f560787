import * as z from 'zod'
import { HeadTail, type Excerpt } from '../encoding/head-tail.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { systemProgram } from '../host/process/system-program.ts'
import type { Exit } from '../host/sandbox/sandbox.ts'
import { failed, type HawserError, type Result } from '../model/errors.ts'
import { protectedName } from '../model/safety/protected-paths.ts'
import { OutputSpool, SPOOL_BYTES, type SpoolResult } from './output-spool.ts'
import { countOf, groupDigits } from '../encoding/amounts.ts'
import { clipText, interruptedOutcome } from './shown-lines.ts'
import { defineTool, failedOutcome, type ToolContext, type ToolOutcome } from './tool.ts'

const LONGEST_MS = 600_000

const Parameters = z.strictObject({
  command: z
    .string()
    .min(1)
    .refine((text) => !text.includes('\0'), { error: 'a command must not contain NUL' })
    .describe('Such as: npm test 2>&1 | tail -n 40'),
  timeout_ms: z.int().min(1).max(LONGEST_MS).optional().describe('Time limit in milliseconds.'),
  network: z.boolean().optional().describe('Allow network access; the person is asked first.'),
  folder: z
    .string()
    .optional()
    .describe(
      'Relative to the workspace. Default: the folder of the current context, else the workspace.',
    ),
})
type Args = z.infer<typeof Parameters>

export const bash = defineTool({
  name: 'bash',
  description:
    'Runs a command in bash and returns its output, with the exit code in the last line. Use it for tests, builds, git and other programs; use read, glob and grep to look at files, edit and write to change them. Each call runs in a new shell without terminal or input: cd and variables do not carry over, and processes left running are killed. It can write only in the workspace. Long output is reduced to its beginning and end.',
  parameters: Parameters,
  claim: ({ command, network = false, folder }) => ({
    tool: 'bash',
    effect: 'run',
    paths: folder === undefined ? [] : [folder],
    command,
    network,
  }),
  run: (args, context) => runBash(args, context, TRIED_NETWORK),
})

/** The part of a context that a command needs. */
export type BashContext = Pick<
  ToolContext,
  'signal' | 'folder' | 'run' | 'redactor' | 'keep' | 'progress' | 'limits'
>

/** `triedNetwork` is the note about a command that tried to use the network. */
export async function runBash(
  args: Args,
  context: BashContext,
  triedNetwork: string,
): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const { command, timeout_ms: wallMs = context.limits.command_ms, network = false } = args
  const shownBytes = context.limits.output_bytes - NOTES_BYTES
  const shown = new HeadTail(shownBytes)
  const spool = new OutputSpool((bytes, type) => context.keep(bytes, type), shownBytes)
  const clean = context.redactor.byteStream()
  const take = (chunk: Buffer) => {
    const text = shown.push(chunk)
    if (text !== '') context.progress(text)
    return spool.push(chunk)
  }
  const folder = args.folder ?? context.folder
  const running = context.run({
    argv: bashArgs(await systemProgram('bash'), command),
    wallMs,
    network,
    ...(folder === undefined ? {} : { folder }),
    signal: context.signal,
    onNetworkTry: () => context.progress(TRIES_NETWORK, { notice: true }),
    // Redact before truncating: half a key would not be found.
    onOutput: (chunk) => take(clean.push(chunk)),
  })
  const exit = await running.catch(async (error: unknown) => {
    // Otherwise the store would wait for more.
    await spool.end(false)
    throw error
  })
  await take(clean.end(exit.ok && (exit.value.timedOut || exit.value.wasInterrupted)))
  const excerpt = shown.end()
  const spooled = await spool.end(excerpt.left_out_bytes > 0)
  if (!exit.ok) return failedOutcome(exit.error)
  return outcomeOf(redactExit(exit.value, context), { wallMs, triedNetwork }, excerpt, spooled)
}

/** Redact before paths are shortened. */
function redactExit(exit: Exit, { redactor }: BashContext): Exit {
  return { ...exit, appearedPaths: exit.appearedPaths.map((path) => redactor.text(path)) }
}

/** The system's bash before one in `PATH`, for which a shell looks inside; sh if there is none. */
function bashArgs(found: string | undefined, command: string): string[] {
  return found === undefined ? ['/bin/sh', '-c', IN_BASH, 'sh', command] : [found, '-c', command]
}

const IN_BASH = 'b=$(command -v bash); [ -x "$b" ] && exec "$b" -c "$1"; exec /bin/sh -c "$1"'

const TRIES_NETWORK =
  'The command tried to reach the network, which is off for it. It continues without; to use the network, it must be run again.\n'

/** The next step for the model. */
const TRIED_NETWORK =
  'it tried to reach the network, which is off; call again with network: true to ask the person for access'

function outcomeOf(
  exit: Exit,
  { wallMs, triedNetwork }: { readonly wallMs: number; readonly triedNetwork: string },
  excerpt: Excerpt,
  spooled: Result<SpoolResult | undefined>,
): ToolOutcome {
  const notes = [
    ...(excerpt.invalid_bytes_replaced ? ['bytes that are not UTF-8 were replaced'] : []),
    ...movedAway(exit.appearedPaths),
    ...runLater(exit.runsLater),
    ...limitsMet(exit.limitsMet),
    ...(exit.triedNetwork === true ? [triedNetwork] : []),
    endOf(exit, wallMs),
  ]
  const output = shownOutput(excerpt, spooled) + notes.map((note) => `[${note}]\n`).join('')
  const error = errorOf(exit, wallMs)
  const truncated = excerpt.left_out_bytes > 0 ? { truncated: true, ...wholeOf(spooled) } : {}
  const left = {
    ...(exit.appearedPaths.length === 0 ? {} : { movedPaths: exit.appearedPaths }),
    ...(exit.runsLater.length === 0 ? {} : { runs_later: exit.runsLater.slice(0, RECORDED) }),
  }
  if (error !== undefined) return { outcome: 'failed', error, output, ...truncated, ...left }
  const { code } = exit
  // The call succeeded but the command did not; the outcome is that of the command.
  const outcome = code === 0 ? 'ok' : 'failed'
  return { outcome, output, ...(code === null ? {} : { exit_code: code }), ...truncated, ...left }
}

/** The maximum number of files that run later in a result: a large checkout contains many. */
const RECORDED = 50

/** The part of the output limit that is reserved for notes. */
export const NOTES_BYTES = 1_300
const NAMED = 2
const NAMED_BYTES = 120

function movedAway(paths: readonly string[]): string[] {
  const named = paths
    .slice(0, NAMED)
    .map((path) => `${clipText(shownPath(path), NAMED_BYTES)} is protected and was moved aside`)
  const more = paths.length - named.length
  return more > 0 ? [...named, `so were ${countOf(more, 'other protected path')}`] : named
}

function limitsMet({ memory, processes }: NonNullable<Exit['limitsMet']> = {}): string[] {
  return [
    ...(memory === undefined
      ? []
      : [`a process was killed at the limit of ${countOf(memory, 'byte')} of memory`]),
    ...(processes === undefined
      ? []
      : [`more than ${countOf(processes, 'process', 'processes')} were refused`]),
  ]
}

function runLater(paths: readonly string[]): string[] {
  const asking = paths.filter((path) => protectedName(path)?.rule === 'asks')
  const named = asking.slice(0, NAMED).map((path) => {
    return `${clipText(shownPath(path), NAMED_BYTES)} stays: ${protectedName(path)?.reason}`
  })
  const more = asking.length - named.length
  return more > 0 ? [...named, `so do ${countOf(more, 'other such file')}`] : named
}

function shownOutput(
  { head, tail, left_out_bytes, total_bytes }: Excerpt,
  spooled: Result<SpoolResult | undefined>,
): string {
  if (left_out_bytes === 0) return wholeLine(head)
  const where = spooled.ok
    ? whereStored(spooled.value, total_bytes)
    : clipText(spooled.error.message, NAMED_BYTES)
  return `${wholeLine(head)}[${countOf(left_out_bytes, 'byte')} omitted here; ${where}]\n${wholeLine(tail)}`
}

function wholeOf(spooled: Result<SpoolResult | undefined>): Pick<ToolOutcome, 'whole_blob'> {
  const blob = spooled.ok ? spooled.value?.blob : undefined
  return blob === undefined ? {} : { whole_blob: blob }
}

function whereStored(spooled: SpoolResult | undefined, total: number): string {
  if (spooled === undefined) return 'they were not stored'
  const what = spooled.cut
    ? `the first ${groupDigits(SPOOL_BYTES)} of ${countOf(total, 'byte')} are`
    : `all ${countOf(total, 'byte')} are`
  return `${what} in blob ${spooled.blob}`
}

function wholeLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function endOf({ code, signal, timedOut, wasInterrupted }: Exit, wallMs: number): string {
  if (timedOut) return `stopped at the time limit of ${groupDigits(wallMs)} ms`
  if (wasInterrupted) return 'interrupted'
  return code === null ? `killed by ${signal}` : `exit code ${code}`
}

function errorOf({ timedOut, wasInterrupted }: Exit, wallMs: number): HawserError | undefined {
  if (timedOut) {
    const message = `The command took longer than ${groupDigits(wallMs)} ms and was stopped.`
    return failed('timeout', message, { limit_ms: wallMs }).error
  }
  return wasInterrupted ? failed('interrupted', 'The command was interrupted.').error : undefined
}
