import { quote } from '../../encoding/quote.ts'

// The texts about commands that the person ran. Every sentence of this folder is part of the Prompt Contract: see
// `version.ts`.

interface CommandFacts {
  readonly command: string
  readonly folder?: string | undefined
  readonly outcome: 'ok' | 'failed' | 'unknown'
  readonly output: string
}

/** A command and its output, whose last line has the exit code. The byte count marks the end, whatever the output contains. */
export function personCommand({ command, folder, outcome, output }: CommandFacts): string {
  const where = folder === undefined ? '' : ` in ${quote(folder)}`
  if (outcome === 'unknown')
    return `[Before this message the person started the command ${quote(command)}${where}. Hawser stopped before it ended, so its outcome is unknown.]`
  const bytes = Buffer.byteLength(output)
  return [
    `[Before this message the person ran the command ${quote(command)}${where}, ${bytes} bytes of output:]`,
    output.endsWith('\n') ? output.slice(0, -1) : output,
    '[End of the output]',
  ].join('\n')
}

/** Commands that are not shown, before those that are. */
export function omittedCommands(count: number): string {
  const what = count === 1 ? 'another command' : `${count} other commands`
  return `[Before that the person ran ${what}, not shown here for lack of space.]`
}
