import { isUtf8 } from 'node:buffer'
import { groupDigits } from '../../encoding/amounts.ts'
import { isGitRoot } from '../../host/git-branch.ts'
import { userHome } from '../../host/machine.ts'
import type { Exit } from '../../host/sandbox/sandbox.ts'
import { foldersUpwards } from '../../host/workspace-search.ts'
import { failed, ok, type HawserError, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { readOnlyCommand } from '../../policy/read-only-command.ts'
import { LIST_SETTINGS, namesWorkTree, withoutFilters } from '../../policy/read-only-git.ts'
import type { ToolContext } from '../../tools/tool.ts'
import { failure, type Production } from './production.ts'

interface CommandContext extends Pick<ToolContext, 'runReadOnly' | 'signal'> {
  readonly files: Pick<ToolContext['files'], 'root'>
}

interface Command {
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Runs a command with everything read-only, without a shell and without network access, in the root of the workspace. It is
 * stopped at its time limit and at the limit of output. One of the table of read-only commands runs in its safe form.
 */
export async function runHydrationCommand(
  argv: readonly string[],
  timeoutMs: number,
  context: CommandContext,
): Promise<Production> {
  const known = readOnlyCommand(argv)
  const safe = known?.argv[0] === 'git' ? await safely(known, timeoutMs, context) : undefined
  if (safe !== undefined && 'status' in safe) return safe
  const { command, limitations, spentMs } = safe ?? {
    command: known ?? { argv },
    limitations: [],
    spentMs: 0,
  }
  const ran = await run(command, Math.max(1, timeoutMs - spentMs), context)
  return productionOf(ran, timeoutMs, limitations)
}

function productionOf(
  ran: Result<Run>,
  timeoutMs: number,
  limitations: readonly string[],
): Production {
  if (!ran.ok) return { status: 'failed', error: ran.error, limitations }
  const { exit, bytes, overLimit } = ran.value
  const error = overLimit ? undefined : errorOf(exit, timeoutMs)
  const stopped = error?.kind === 'interrupted' || error?.kind === 'timeout'
  const end = overLimit ? 'at_limit' : stopped ? 'stopped' : 'complete'
  const made = { raw: { bytes, end }, limitations: [...limitations, ...notesOn(exit)] } as const
  if (error === undefined) return { status: 'ok', ...made }
  return { status: error.kind === 'interrupted' ? 'interrupted' : 'failed', error, ...made }
}

interface Run {
  readonly exit: Exit
  readonly bytes: Buffer
  readonly overLimit: boolean
}

async function run(
  { argv, env }: Command,
  wallMs: number,
  { runReadOnly, signal }: CommandContext,
): Promise<Result<Run>> {
  const stop = new AbortController()
  const chunks: Buffer[] = []
  let size = 0
  const exit = await runReadOnly({
    argv,
    wallMs,
    network: false,
    signal: AbortSignal.any([signal, stop.signal]),
    ...(env === undefined ? {} : { env }),
    onOutput: (chunk) => {
      const room = LIMITS.hydrated_spool_bytes - size
      if (room > 0) chunks.push(Buffer.from(chunk.subarray(0, room)))
      size += chunk.length
      if (size > LIMITS.hydrated_spool_bytes) stop.abort()
    },
  })
  if (!exit.ok) return exit
  return ok({ exit: exit.value, bytes: Buffer.concat(chunks), overLimit: stop.signal.aborted })
}

interface SafeCommand {
  readonly command: Command
  readonly limitations: readonly string[]
  /** How much of the time limit is used. */
  readonly spentMs: number
}

/**
 * Adds what depends on the repository: where its work tree is, whatever its settings say, and that its filters are off. If its
 * settings cannot be listed completely, the command does not run.
 */
async function safely(
  { argv, env }: Required<Command>,
  timeoutMs: number,
  context: CommandContext,
): Promise<SafeCommand | Production> {
  const own = { ...env, ...(await workTree(context.files.root)) }
  const ran = await run({ argv: LIST_SETTINGS, env: own }, timeoutMs, context)
  const listed = productionOf(ran, timeoutMs, [])
  if (listed.status !== 'ok') return listed
  if (listed.raw?.end !== 'complete') return failure(refusedSettings('are too long'))
  const { bytes } = listed.raw
  // A variable is always UTF-8, so it could not turn off a filter with another name.
  if (!isUtf8(bytes)) return failure(refusedSettings('are not valid UTF-8'))
  const names = bytes.toString('utf8')
  // Git accepts more forms of a repository than we find.
  if (own.GIT_WORK_TREE === undefined && namesWorkTree(names))
    return failure(refusedSettings('name another work tree'))
  const { filters, env: off } = withoutFilters(names)
  const limitations =
    filters.length === 0 ? [] : [`Filters of git were off: ${filters.join(', ')}.`]
  const spentMs = ran.ok ? ran.value.exit.durationMs : 0
  return { command: { argv, env: { ...own, ...off } }, limitations, spentMs }
}

function refusedSettings(why: string): HawserError {
  const message = `Git is not used here: the settings of this repository ${why}.`
  return failed('hydration_failed', message).error
}

async function workTree(root: string): Promise<{ readonly GIT_WORK_TREE?: string }> {
  for (const folder of foldersUpwards(root, userHome()))
    if (await isGitRoot(folder)) return { GIT_WORK_TREE: folder }
  return {}
}

function notesOn({ triedNetwork, limitsMet = {} }: Exit): string[] {
  const { memory, processes } = limitsMet
  return [
    ...(triedNetwork === true ? ['The command tried to reach the network, which is off.'] : []),
    ...(memory === undefined ? [] : ['A process was killed at the limit of memory.']),
    ...(processes === undefined ? [] : ['More processes than allowed were refused.']),
  ]
}

function errorOf(exit: Exit, timeoutMs: number): HawserError | undefined {
  const { code, signal, timedOut, wasInterrupted } = exit
  if (wasInterrupted) return failed('interrupted', 'The command was interrupted.').error
  if (timedOut) {
    const message = `The command took longer than ${groupDigits(timeoutMs)} ms and was stopped.`
    return failed('timeout', message, { limit_ms: timeoutMs }).error
  }
  if (code === 0) return undefined
  if (code === null)
    return failed('hydration_failed', `The command was killed by ${signal}.`, { signal }).error
  return failed('hydration_failed', `The command failed with exit code ${code}.`, {
    exit_code: code,
  }).error
}
