import * as z from 'zod'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { refuse, wantsColour } from '../answer.ts'
import { beginSession, REHEARSING, SessionChoice } from '../begin.ts'
import { runChat } from '../chat/chat.ts'
import { Questions } from '../chat/questions.ts'
import type { Given } from '../command.ts'
import { inWorkspace } from '../workspace.ts'
import type { CliWorld, Opened } from '../world.ts'

/** A conversation in this terminal. */
export async function run(world: CliWorld, given: Given): Promise<number> {
  const { stdin, stdout } = world.streams
  const choice = SessionChoice.safeParse(given.options)
  if (!choice.success) {
    return refuse(world, false, failed('invalid_args', z.prettifyError(choice.error)).error)
  }
  if (!stdin.isTTY || !stdout.isTTY) return refuse(world, false, noTerminal().error)
  const questions = new Questions()
  const talk = (opened: Opened) => inSession(world, opened, choice.data, questions)
  return inWorkspace(world, given, talk, { make: true, ask: questions.ask })
}

async function inSession(
  world: CliWorld,
  opened: Opened,
  choice: SessionChoice,
  questions: Questions,
): Promise<Result<number>> {
  const begun = await beginSession(world, opened, choice)
  if (!begun.ok) return begun
  const { session, byDefault } = begun.value
  const { streams, clock } = world
  const { harness } = opened
  if (byDefault) streams.stderr.write(REHEARSING)
  const code = await runChat({
    streams,
    clock,
    colour: wantsColour(world, streams.stdout, opened.settings.settings.display?.colour),
    questions,
    session,
    actions: {
      sessions: () => harness.list(),
      open: (id) => harness.open(id),
      undo: (current) => harness.undo(current),
      setModel: (current, chosen) => current.setModel(chosen),
    },
  })
  // A conversation that never began leaves nothing behind.
  const isNew = choice.session === undefined && choice.continue !== true
  if (isNew && session.state.turns === 0) await harness.delete(session.id)
  return ok(code)
}

function noTerminal() {
  return failed('invalid_args', 'A conversation needs a terminal.', {}, [
    { action: 'Ask for one Turn instead.', command: 'hawser run "What is in this folder?"' },
  ])
}
