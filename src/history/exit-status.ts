import type { EventData } from '../model/events/event.ts'

type Result = EventData<'tool_result'>

export interface ExitStatus {
  readonly outcome: Result['outcome']
  /** Set for a command with an exit code other than 0. */
  readonly failure?: string
}

/**
 * How a call ended, for people: a command with an exit code other than 0 failed. Older Logs record such a result as
 * `ok`, with the code only in the last line of the output. Pure.
 */
export function exitStatus({ name, outcome, exit_code, output }: Result): ExitStatus {
  const code = exit_code ?? (name === 'bash' && outcome === 'ok' ? writtenCode(output) : undefined)
  if (code === undefined || code === 0) return { outcome }
  return { outcome: outcome === 'ok' ? 'failed' : outcome, failure: `exit code ${code}` }
}

function writtenCode(output: string): number | undefined {
  const code = /\[exit code (\d{1,3})\]\n$/.exec(output)?.[1]
  return code === undefined ? undefined : Number(code)
}
