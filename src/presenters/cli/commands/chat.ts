import * as z from 'zod'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { refuse, wantsColour } from '../world/answer.ts'
import { drawingOn } from '../render/pictures.ts'
import { judgeModel } from '../../../session/settings/model-choice.ts'
import { beginSession } from '../../../session/workspace/begin.ts'
import { isContinued, oneSession, REHEARSING, SessionOptions } from '../input/session-choice.ts'
import { chosenSession } from '../input/chosen-session.ts'
import { visibleText } from '../text/visible-text.ts'
import { chatActions, type Judge } from '../chat/actions.ts'
import type { PendingAttachment } from '../chat/pending-attachments.ts'
import { runChat } from '../chat/chat.ts'
import type { ChatActions, TrustingSkills } from '../chat/command-context.ts'
import { withSkillsOf } from '../world/skills-place.ts'
import type { CommandInput } from '../world/command.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const Options = SessionOptions.extend({ attach: z.array(z.string()).default([]) })
interface Options extends z.infer<typeof Options> {
  /** The first message. */
  readonly first: string | undefined
}

/** Starts a conversation in this terminal. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const { stdin, stdout } = world.streams
  const choice = Options.safeParse(commandInput.options)
  if (!choice.success) {
    return refuse(world, false, failed('invalid_args', z.prettifyError(choice.error)).error)
  }
  if (!stdin.isTTY || !stdout.isTTY) return refuse(world, false, noTerminal().error)
  const [words] = commandInput.args
  const first = Array.isArray(words) && words.length > 0 ? words.join(' ') : undefined
  const talk = (opened: OpenWorkspace) => inSession(world, opened, { ...choice.data, first })
  return inWorkspace(world, commandInput, talk, { make: true, questionMs: 0 })
}

async function inSession(
  world: CliWorld,
  opened: OpenWorkspace,
  choice: Options,
): Promise<Result<number>> {
  const { streams, clock, env } = world
  const { harness, settings } = opened
  const { display } = settings.settings
  const draw = drawingOn(streams.stdout, env, display?.pictures)
  const judge: Judge['judge'] = (named) => judgeModel(named, opened.models())
  const trusting: TrustingSkills = (work) => withSkillsOf(world, harness.workspace, work)
  const actions = chatActions({ ...world, judge, trusting }, harness, draw)
  const attached = await attachedBy(actions, choice.attach)
  if (!attached.ok) return attached
  const named = choice.resume === true ? await chosenSession(world, harness) : ok({})
  if (!named.ok) return named
  const chosen = oneSession({ ...choice, ...named.value })
  if (!chosen.ok) return chosen
  const begun = await beginSession(opened, chosen.value, { env, answers: true })
  if (!begun.ok) return begun
  const { session, byDefault, warning } = begun.value
  if (byDefault) streams.stderr.write(REHEARSING)
  if (warning !== undefined) streams.stderr.write(`hawser: ${visibleText(warning)}\n`)
  const code = await runChat({
    streams,
    clock,
    colour: wantsColour(world, streams.stdout, display?.colour),
    session,
    actions,
    attached: attached.value,
    first: choice.first,
  })
  // Delete a new Session without any Turn or command.
  const isUnused = session.events.every(({ type }) => type !== 'shell_command')
  if (!isContinued(choice) && session.state.turns === 0 && isUnused)
    await harness.delete(session.id)
  return ok(code)
}

/** Checked before the Session starts, so that a bad attachment fails at once. */
async function attachedBy(
  { attach }: ChatActions,
  names: readonly string[],
): Promise<Result<readonly PendingAttachment[]>> {
  const all: PendingAttachment[] = []
  for (const name of names) {
    const one = await attach?.(name)
    if (one === undefined || !one.ok) return one ?? ok([])
    all.push(one.value)
  }
  return ok(all)
}

function noTerminal() {
  return failed('invalid_args', 'hawser chat requires a terminal.', {}, [
    { action: 'Run a single Turn instead.', command: 'hawser -p "What is in this folder?"' },
  ])
}
