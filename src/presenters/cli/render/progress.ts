import { Activity } from './activity.ts'
import { cellWidth } from '../text/cell-width.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { CliWorld } from '../world/world.ts'

/**
 * Does `work`; if it takes more than a second, a line on the terminal's standard error says `text` until it is done.
 * Elsewhere, and on a terminal that cannot take a line back, nothing is written.
 */
export async function withProgress<T>(
  { streams: { stderr }, clock, env }: Pick<CliWorld, 'streams' | 'clock' | 'env'>,
  text: string,
  work: () => Promise<T>,
): Promise<T> {
  if (env['TERM'] === 'dumb') return work()
  const activity = new Activity(clock, stderr)
  activity.during(shortened(visibleLine(text), stderr.columns - 2))
  try {
    return await work()
  } finally {
    activity.clear()
  }
}

/** A line that the terminal wraps could not be taken back. */
function shortened(text: string, cells: number): string {
  const signs = Array.from(text)
  while (signs.length > 0 && cellWidth(signs.join('')) > cells) signs.pop()
  return signs.join('')
}
