import type { Streams } from '../../host/streams.ts'
import { EXIT } from './exit-code.ts'

/** The exit code of a command whose output is complete; of one whose output could not be written, 1, and why. */
export async function exitAfterOutput(
  { stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>,
  code: number,
): Promise<number> {
  await Promise.all([stdout.flushed(), stderr.flushed()])
  if (stdout.failure === undefined) return code
  stderr.write(
    `hawser: Standard output could not be written (${stdout.failure}); what was printed is incomplete.\n`,
  )
  await stderr.flushed()
  return code === EXIT.done ? EXIT.failed : code
}
