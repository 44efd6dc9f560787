import * as z from 'zod'
import { failed, ok } from '../../../model/errors.ts'
import { SessionId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput } from '../world/command.ts'
import { openNamed } from '../../../session/workspace/session-reference.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { CliWorld } from '../world/world.ts'

const PinArgs = z.object({
  args: z.tuple([z.string(), z.array(z.string())]),
  options: z.object({ json: z.boolean().default(false) }),
})

export const Output = z.object({
  ok: z.literal(true),
  session_id: SessionId,
  text: z.string(),
})

/** Records text that every checkpoint of a Session keeps verbatim. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const {
    args: [named, words],
    options: { json },
  } = PinArgs.parse(commandInput)
  const text = words.join(' ').toWellFormed()
  return inWorkspace(world, commandInput, async ({ harness }) => {
    const limit = LIMITS.user_text_bytes
    const actual = Buffer.byteLength(text)
    if (actual > limit) {
      return failed('too_large', `The text has ${actual} bytes; the limit is ${limit}.`, {
        limit,
        actual,
      })
    }
    const session = await openNamed(harness, named)
    if (!session.ok) return session
    const pinned = await harness.pin(session.value, text)
    if (!pinned.ok) return pinned
    const session_id = session.value.id
    const confirmation = () =>
      `Pinned in ${session_id}: every checkpoint keeps this text verbatim.\n`
    return ok(answer(world, json, { session_id, text }, confirmation))
  })
}
