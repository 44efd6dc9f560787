import { ok, type Result } from '../../../model/errors.ts'
import type { LogEnd } from '../../../session/reading/read-log.ts'
import { refuse } from './answer.ts'
import { EXIT } from './exit-code.ts'
import type { CliWorld } from './world.ts'

/** Prints, after the readable part of a Log, what a reader must know about its end. Damage is exit code 1. */
export function reportEnd(
  world: CliWorld,
  { damage, isUnfinished, foreign }: LogEnd,
): Result<number> {
  const { json, streams } = world
  if (json !== true && foreign) streams.stderr.write(FOREIGN)
  if (damage !== undefined) {
    refuse(world, damage)
    return ok(EXIT.failed)
  }
  if (json !== true && isUnfinished) streams.stderr.write(UNFINISHED)
  return ok(EXIT.done)
}

const FOREIGN = 'hawser: this Session was created elsewhere; its content cannot be verified here.\n'
const UNFINISHED =
  'hawser: the last line is incomplete: it is being written, or its writer was killed.\n'
