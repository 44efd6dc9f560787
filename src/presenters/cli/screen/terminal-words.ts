import type { Settings } from '../../../model/settings.ts'
import { planRows } from './plan-rows.ts'
import { resultRows } from './tool-rows.ts'
import { terminalText } from '../text/cell-width.ts'
import { paletteOf, terminalColours } from '../text/palette.ts'
import { wantsColour } from '../world/answer.ts'
import type { CliWorld } from '../world/world.ts'
import { AnswerText } from '../render/answer-text.ts'
import type { WordsOptions } from '../render/turn-view.ts'

/** What a Turn prints only on a terminal. Loaded only there. */
export function terminalWords(
  world: CliWorld,
  display: Settings['display'],
  isPlain: boolean,
): Pick<WordsOptions, 'resultText' | 'planText' | 'answer'> {
  const { stdout, stderr } = world.streams
  const palette = paletteOf(display?.theme ?? 'auto', terminalColours(world.env))
  const colourOf = (stream: typeof stdout) => wantsColour(world, stream, display?.colour) && palette
  const notes = colourOf(stderr)
  return {
    resultText: (result, call) => terminalText(resultRows(result, call, stderr.columns), notes),
    planText: ({ entries }) => terminalText(planRows(entries, stderr.columns), notes),
    answer:
      stdout.isTTY && !isPlain ? new AnswerText(() => stdout.columns, colourOf(stdout)) : undefined,
  }
}
