import { failed, ok } from '../../../src/model/errors.ts'
import type { ToolContext } from '../../../src/tools/tool.ts'

const LINES = Array.from({ length: 200 }, (_, at) => `line ${at} of the only Event`)
const PLACE = { seq: 1, turn: 1, type: 'assistant_message' } as const

/** The history of a `ToolWorld`: one Turn with one Event of 200 numbered lines. */
export const WORLD_HISTORY: Pick<ToolContext, 'searchHistory' | 'readEvent'> = {
  searchHistory: async ({ pattern, limit }) => {
    const all = LINES.flatMap((text) => {
      const match = pattern.exec(text)
      if (match === null) return []
      const { index: start } = match
      return [{ ...PLACE, field: 'text', text, start, end: start + match[0].length }]
    })
    const matches = all.slice(0, limit)
    return ok({ matches, matchCount: all.length, isCounted: true, turns: 1, unread: [] })
  },
  readEvent: async (seq, { offset, length }) => {
    if (seq !== 1) return failed('not_found', `There is no Event ${seq}.`)
    const text = LINES.join('\n')
    return ok({ ...PLACE, text: text.slice(offset, offset + length), characters: text.length })
  },
}
