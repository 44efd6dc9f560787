import type { Streams } from '../../../host/streams.ts'
import { EXIT } from './exit-code.ts'

/** The exit code of a command whose output is complete; of one whose output could not be written, 1, and why. */
export async function exitAfterOutput(
  { stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>,
  code: number,
): Promise<number> {
  await Promise.all([stdout.flushed(), stderr.flushed()])
  if (stdout.failure === undefined) return code
  stderr.write(outputFailure(stdout.failure))
  await stderr.flushed()
  return code === EXIT.done ? EXIT.failed : code
}

export function outputFailure(code: string): string {
  return `hawser: Standard output could not be written (${code}); what was printed is incomplete.\n`
}
