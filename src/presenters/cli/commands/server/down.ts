import * as z from 'zod'
import type { Clock } from '../../../../host/clock.ts'
import { askServer } from '../../../../host/server/ask-server.ts'
import { announcedServer } from '../../../../host/server/server-lock.ts'
import type { Folder } from '../../../../host/files/files.ts'
import { wait } from '../../../../host/wait.ts'
import { failed, ok, type Failed, type Result } from '../../../../model/errors.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { DOWN } from '../../definitions/server.ts'
import { inSettings } from '../../world/settings-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  stopped: z.boolean().describe('False if no server was running.'),
})

const LOOK_EVERY_MS = 20
const LOOKS = 1_500

/** Stops the local server and waits until it has released its home. */
export const run: Run<typeof DOWN> = async (world) =>
  inSettings(world, {}, 'none', async ({ home }) => {
    const stopped = await stop(home, world.clock)
    if (!stopped.ok) return stopped
    const words = stopped.value
      ? 'The local server has stopped.\n'
      : 'The local server is not running.\n'
    return answer(world, { stopped: stopped.value }, () => words)
  })

/** Whether a server was stopped. No signal is sent: the server that wrote the record is asked, whatever its process is. */
async function stop(home: Folder, clock: Clock): Promise<Result<boolean>> {
  let asked = false
  let unansweredSince: number | undefined
  for (let looks = 0; looks < LOOKS; looks++) {
    const found = await announcedServer(home)
    if (!found.ok) return found
    const state = found.value
    // It may have stopped before it could answer.
    if (state === undefined) return ok(asked || unansweredSince !== undefined)
    if (!asked && state !== 'starting') {
      asked = (await askServer(state, '/control/stop')).ok
      if (!asked) unansweredSince ??= clock.monotonicMs()
      const ms = unansweredSince === undefined ? 0 : clock.monotonicMs() - unansweredSince
      if (ms >= UNANSWERED_MS) return unreachable(state.record.pid)
    }
    await wait(clock, LOOK_EVERY_MS)
  }
  return failed('timeout', 'The local server did not stop in time.', {}, [
    { action: 'Show its state.', command: 'hawser status' },
  ])
}

/** A server that is stopping does not answer while it ends its guests. */
const UNANSWERED_MS = 15_000

function unreachable(pid: number): Failed {
  const message =
    'The local server runs, but does not answer. It may be suspended, or run in another container.'
  return failed('network', message, { pid }, [{ action: `Stop the process ${pid} where it runs.` }])
}
