import { onTestFinished } from 'vitest'
import { freshFolder } from '../host/folder.ts'
import { guestProgram } from '../cli/guest-bundle.ts'
import { startGuest, type GuestPlay, type PlayOptions } from './guest-program.ts'
import { value } from '../log/story.ts'

/** A real guest for a test, which stops it at its end. The file removes the bundle after its tests (`removeGuestProgram`). */
export async function playGuest(options: Partial<PlayOptions> = {}): Promise<GuestPlay> {
  const root = options.root ?? (await freshFolder())
  const program = options.program ?? (await guestProgram())
  const play = value(await startGuest({ ...options, root, program }))
  onTestFinished(async () => {
    await play.host.stop(100)
  })
  return play
}
