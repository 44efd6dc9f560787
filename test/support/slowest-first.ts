import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of few lines that run for long, the slowest first. */
const SLOWEST: readonly string[] = [
  'test/faults/session/key-kill.long.test.ts',
  'test/faults/skills/skill-kill.long.test.ts',
  'test/faults/log/syscall-kill.long.test.ts',
  'test/faults/providers/stream-noise.long.test.ts',
  'test/journeys/pressure/recall.long.test.ts',
  'test/journeys/pressure/long-session.long.test.ts',
  'test/journeys/pressure/tool-loop.long.test.ts',
  'test/prompts/law.long.test.ts',
  'test/faults/providers/stream-cut.long.test.ts',
  'test/faults/pressure/compaction-kill.long.test.ts',
  'src/request/compose-request.long.test.ts',
  'test/vectors/replay.long.test.ts',
  'test/faults/log/crash.long.test.ts',
  'test/faults/session/turn-kill.long.test.ts',
  'test/faults/http/http-kill.long.test.ts',
  'test/journeys/http/http-many-sessions.long.test.ts',
  'test/journeys/session/live-idle.long.test.ts',
  'test/attacks/tether/hostile-guest.long.test.ts',
  'test/faults/tether/guest-kill.long.test.ts',
  'test/faults/log/mutation.long.test.ts',
  'test/faults/tether/frame-kill.long.test.ts',
  'test/faults/session/key-kill.test.ts',
  'test/faults/session/turn-kill.test.ts',
  'test/faults/providers/stream-noise.test.ts',
  'test/faults/providers/stream-cut.test.ts',
  'test/faults/log/syscall-kill.test.ts',
  'test/faults/log/kill.test.ts',
  'test/faults/disk/full-disk.test.ts',
  'test/faults/session/lock-race.test.ts',
  'test/faults/workspace/ingest-race.test.ts',
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
