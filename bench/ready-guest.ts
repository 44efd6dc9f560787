import { once } from 'node:events'
import process from 'node:process'
import type { ProgramFiles } from '../src/host/process/own-program.ts'
import { systemSandbox, type LongProcess } from '../src/host/sandbox/sandbox.ts'
import type { GuestStart } from '../src/model/tether/guest-line.ts'
import { launchGuest, type GuestPlace } from '../src/tether/server/launch-guest.ts'

const sandbox = systemSandbox()

interface ReadyPlace extends Pick<GuestPlace, 'workspace' | 'home' | 'ownHome' | 'records'> {
  readonly provider: string
  readonly model: string
}

/** Starts a guest. Resolves when it has opened its workspace and says that it is ready. */
export async function readyGuest(
  { provider, model, ...place }: ReadyPlace,
  program: ProgramFiles,
): Promise<LongProcess> {
  const started = await launchGuest(sandbox, {
    ...place,
    program,
    onOutput: (chunk) => void process.stderr.write(chunk),
  })
  if (!started.ok) throw new Error(started.error.message)
  const frames = started.value.descriptor('frames')
  const start: GuestStart = {
    type: 'guest.start',
    instance: 'a',
    workspace: place.workspace,
    provider,
    model,
    permission_mode: 'auto',
    replay: 'window',
    images: true,
  }
  frames.write(`${JSON.stringify(start)}\n`)
  await once(frames, 'data')
  return started.value
}
