import { Activity } from './activity.ts'
import { cellWidth } from '../text/cell-width.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { CliWorld } from '../world/world.ts'

/**
 * Runs `work`. If it takes more than a second, shows `text` on standard error until it is done. Writes nothing without
 * a terminal, or on one that cannot erase a line.
 */
export async function withProgress<T>(
  { streams: { stderr }, clock, env }: Pick<CliWorld, 'streams' | 'clock' | 'env'>,
  text: string,
  work: () => Promise<T>,
): Promise<T> {
  if (env['TERM'] === 'dumb') return work()
  const activity = new Activity(clock, stderr)
  activity.during(fitCells(visibleLine(text), stderr.columns - 2))
  try {
    return await work()
  } finally {
    activity.clear()
  }
}

/** A line that the terminal wraps could not be erased. */
function fitCells(text: string, cells: number): string {
  const signs = Array.from(text)
  while (signs.length > 0 && cellWidth(signs.join('')) > cells) signs.pop()
  return signs.join('')
}
