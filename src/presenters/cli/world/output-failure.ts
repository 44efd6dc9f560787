import type { Streams } from '../../../host/streams.ts'
import { EXIT } from './exit-code.ts'

/** The exit code of a command; 1, with the reason on standard error, if its output could not be written. */
export async function exitAfterOutput(
  { stdout, stderr }: Pick<Streams, 'stdout' | 'stderr'>,
  code: number,
): Promise<number> {
  await Promise.all([stdout.flush(), stderr.flush()])
  if (stdout.failure === undefined) return code
  stderr.write(outputFailure(stdout.failure))
  await stderr.flush()
  return code === EXIT.done ? EXIT.failed : code
}

export function outputFailure(code: string): string {
  return `hawser: cannot write to standard output (${code}); the output is incomplete.\n`
}
