import { grouped } from '../../encoding/amounts.ts'
import { isGitRoot } from '../../host/git-branch.ts'
import { userHome } from '../../host/machine.ts'
import type { Exit } from '../../host/sandbox/sandbox.ts'
import { foldersUpwards } from '../../host/workspace-search.ts'
import { failed, ok, type HawserError, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import { readOnlyCommand } from '../../policy/read-only-command.ts'
import { LIST_SETTINGS, withoutFilters } from '../../policy/read-only-git.ts'
import type { ToolContext } from '../../tools/tool.ts'
import type { Production } from './production.ts'

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
export async function runCommand(
  argv: readonly string[],
  timeoutMs: number,
  context: CommandContext,
): Promise<Production> {
  const known = readOnlyCommand(argv)
  const safe =
    known === undefined
      ? ok({ command: { argv }, limitations: [] })
      : await safely(known, context, timeoutMs)
  if (!safe.ok) return { status: 'failed', error: safe.error }
  const { command, limitations } = safe.value
  const ran = await run(command, timeoutMs, context)
  if (!ran.ok) return { status: 'failed', error: ran.error, limitations }
  const { exit, bytes, overLimit } = ran.value
  const notes = [...limitations, ...notesOn(exit)]
  const raw = (end: 'complete' | 'at_limit' | 'stopped') => ({
    raw: { bytes, end },
    limitations: notes,
  })
  if (overLimit) return { status: 'ok', ...raw('at_limit') }
  const error = errorOf(exit, timeoutMs)
  if (error === undefined) return { status: 'ok', ...raw('complete') }
  if (error.kind === 'interrupted') return { status: 'interrupted', error, ...raw('stopped') }
  return { status: 'failed', error, ...raw(error.kind === 'timeout' ? 'stopped' : 'complete') }
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

/** Adds what depends on the repository: where its work tree is, whatever its settings say, and that its filters are off. */
async function safely(
  command: Required<Command>,
  context: CommandContext,
  timeoutMs: number,
): Promise<Result<{ readonly command: Command; readonly limitations: readonly string[] }>> {
  const { argv, env } = command
  if (argv[0] !== 'git') return ok({ command, limitations: [] })
  const place = await workTree(context.files.root)
  const own = { ...env, ...place }
  const listed = await run({ argv: LIST_SETTINGS.argv, env: own }, timeoutMs, context)
  if (!listed.ok) return listed
  // Without a repository, git reports that itself.
  const { filters, env: off } = withoutFilters(listed.value.bytes.toString('utf8'))
  const limitations =
    filters.length === 0 ? [] : [`Filters of git were off: ${filters.join(', ')}.`]
  return ok({ command: { argv, env: { ...own, ...off } }, limitations })
}

async function workTree(root: string): Promise<Readonly<Record<string, string>>> {
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
  const { code, signal, timedOut, interrupted } = exit
  if (interrupted) return failed('interrupted', 'The command was interrupted.').error
  if (timedOut) {
    const message = `The command took longer than ${grouped(timeoutMs)} ms and was stopped.`
    return failed('timeout', message, { limit_ms: timeoutMs }).error
  }
  if (code === 0) return undefined
  if (code === null)
    return failed('hydration_failed', `The command was killed by ${signal}.`, { signal }).error
  return failed('hydration_failed', `The command failed with exit code ${code}.`, {
    exit_code: code,
  }).error
}
