import * as z from 'zod'
import type { Fold } from '../../../src/log/derived-index.ts'

/** The state of a small fold for tests of the Log: the number of Events of each type, and the last few texts. */
export interface TextState {
  readonly counts: Readonly<Record<string, number>>
  readonly lastTexts: readonly string[]
}

export const textFold: Fold<TextState> = {
  version: 'text-1',
  schema: z.object({
    counts: z.record(z.string(), z.number()),
    lastTexts: z.array(z.string()),
  }),
  initial: { counts: {}, lastTexts: [] },
  step: ({ counts, lastTexts }, { content: { event } }) => {
    const text = 'text' in event.data ? event.data.text : undefined
    return {
      counts: { ...counts, [event.type]: (counts[event.type] ?? 0) + 1 },
      lastTexts: typeof text === 'string' ? [...lastTexts, text.slice(0, 20)].slice(-3) : lastTexts,
    }
  },
}
