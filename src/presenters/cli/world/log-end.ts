import { ok, type Result } from '../../../model/errors.ts'
import type { LogEnd } from '../../../session/queries/read-log.ts'
import { refuse } from './answer.ts'
import { EXIT } from './exit-code.ts'
import type { CliWorld } from './world.ts'

/** Tells, behind what could be read of a Log, what a reader should know of its end. Damage is exit code 1. */
export function tellEnd(
  world: CliWorld,
  { damage, unfinished, foreign }: LogEnd,
  { json }: { readonly json: boolean },
): Result<number> {
  const { stderr } = world.streams
  if (!json && foreign) stderr.write(FOREIGN)
  if (damage !== undefined) {
    refuse(world, json, damage)
    return ok(EXIT.failed)
  }
  if (!json && unfinished) stderr.write(UNFINISHED)
  return ok(EXIT.done)
}

const FOREIGN = 'hawser: this Session did not begin here; nothing here vouches for what it says.\n'
const UNFINISHED =
  'hawser: a last line is not finished: somebody is writing it, or was killed at it.\n'
