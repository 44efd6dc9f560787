import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of few lines that run for long, the slowest first. */
const SLOWEST: readonly string[] = [
  'test/faults/key-kill.long.test.ts',
  'test/faults/skill-kill.long.test.ts',
  'test/faults/syscall-kill.long.test.ts',
  'test/faults/stream-noise.long.test.ts',
  'test/journeys/recall.long.test.ts',
  'test/journeys/long-session.long.test.ts',
  'test/journeys/tool-loop.long.test.ts',
  'test/prompts/law.long.test.ts',
  'test/faults/stream-cut.long.test.ts',
  'test/faults/compaction-kill.long.test.ts',
  'src/request/compose-request.long.test.ts',
  'test/vectors/replay.long.test.ts',
  'test/faults/crash.long.test.ts',
  'test/faults/turn-kill.long.test.ts',
  'test/faults/http-kill.long.test.ts',
  'test/journeys/http-many-sessions.long.test.ts',
  'test/journeys/live-idle.long.test.ts',
  'test/attacks/hostile-guest.long.test.ts',
  'test/faults/guest-kill.long.test.ts',
  'test/faults/mutation.long.test.ts',
  'test/faults/frame-kill.long.test.ts',
  'test/faults/key-kill.test.ts',
  'test/faults/turn-kill.test.ts',
  'test/faults/stream-noise.test.ts',
  'test/faults/stream-cut.test.ts',
  'test/faults/syscall-kill.test.ts',
  'test/faults/kill.test.ts',
  'test/faults/full-disk.test.ts',
  'test/faults/lock-race.test.ts',
  'test/faults/ingest-race.test.ts',
]

/**
 * Starts the slowest files first, so that the workers finish together. Without a cache, which a fresh clone does not have,
 * Vitest starts the largest files first, and would end with faults that a few lines repeat hundreds of times.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config
    const missing = SLOWEST.find((path) => !existsSync(join(root, path)))
    if (missing !== undefined)
      throw new Error(`slowest-first.ts lists ${missing}, which is missing`)
    const rank = ({ moduleId }: TestSpecification) => {
      const at = SLOWEST.indexOf(relative(root, moduleId))
      return at === -1 ? SLOWEST.length : at
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
