import { failed, ok, type Result } from '../../../../model/errors.ts'
import type { CommandContext, CommandResult } from './command-context.ts'
import { stillRunning } from './session-commands.ts'

/**
 * Has the model draft AGENTS.md in an ordinary Turn, or improve the file that is there. The file is written with the
 * permissions of any other.
 */
export async function initCommand(
  { session, actions, busy }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  if (busy) return stillRunning()
  if (session.permissionMode === 'read-only')
    return failed('permission_denied', 'Nothing may be written now, so AGENTS.md cannot be.', {}, [
      session.state.mode === 'plan'
        ? { action: 'Leave plan mode first:', command: '/build' }
        : { action: 'Let Hawser ask before it writes:', command: '/permission ask' },
    ])
  return ok({ rows: [], send: initMessage(await actions.ownInstructions?.(), argument) })
}

/** What the person asks for. Pure. */
function initMessage(existing: string | undefined, also: string): string {
  const task =
    existing === undefined
      ? 'Write AGENTS.md in the root of this workspace: instructions for agents that work on this project.'
      : `Improve ${existing} in the root of this workspace, the instructions for agents that work on this project. Read it first. Propose what is wrong, missing or superfluous, and then make these edits; keep what is right as it is.`
  return [
    task,
    'First read what says how the project works: the README, the manifests of packages, the configuration of builds, tests and CI, and some of the most important source files.',
    'Then write what an agent cannot guess and would otherwise get wrong, in at most 60 lines of Markdown: what the project is, in two sentences; the exact commands to install, build, lint and test, and to run a single test; how the folders are organised; conventions that differ from the usual ones; what must never be done.',
    'State only what you found in files; leave out general advice. Do not copy secrets.',
    ...(also === '' ? [] : [`Also: ${also}`]),
  ].join('\n\n')
}
