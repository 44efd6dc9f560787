import { onTestFinished } from 'vitest'
import { freshFolder } from './folder.ts'
import { startGuest, type GuestPlay, type PlayOptions } from './guest-program.ts'
import { value } from './story.ts'

/** A real guest for a test, which stops it at its end. */
export async function playGuest(options: Partial<PlayOptions> = {}): Promise<GuestPlay> {
  const root = options.root ?? (await freshFolder())
  const play = value(await startGuest({ ...options, root }))
  onTestFinished(async () => {
    await play.host.stop(100)
  })
  return play
}
