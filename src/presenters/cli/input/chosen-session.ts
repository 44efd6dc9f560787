import { failed, ok, type Result } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { Harness } from '../../../session/harness.ts'
import { sessionEnds, sessionOrder } from '../pick/session-pick.ts'
import { pickAtTerminal } from '../pick/terminal-pick.ts'
import type { CliWorld } from '../world/world.ts'

/** Lets the person choose which Session of the folder to continue. Standard input and output must be a terminal. */
export async function chosenSession(
  { streams, clock }: Pick<CliWorld, 'streams' | 'clock'>,
  harness: Harness,
  colour: boolean,
): Promise<Result<{ readonly session: SessionId; readonly resume: undefined }>> {
  const all = (await harness.list()).filter(
    ({ foreign, damage }) => !foreign && damage === undefined,
  )
  if (all.length === 0) return failed('not_found', 'No Sessions in this folder yet.')
  const readEnd = sessionEnds(harness)
  const session = await pickAtTerminal({ streams, clock, colour }, (changed) =>
    sessionOrder(all, readEnd, changed),
  )
  if (session !== undefined) return ok({ session, resume: undefined })
  return failed('interrupted', 'No Session was chosen.')
}
