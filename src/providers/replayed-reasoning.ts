import type { ConversationItem } from '../model/conversation.ts'

/**
 * Items without the reasoning that must not be sent back: only the model that wrote it can read it, in the same dialect, and
 * vendors reject reasoning that nothing of the same answer follows. An answer is recorded in one write, so whatever follows
 * an item is known whenever the item is. Pure.
 */
export function replayedReasoning(
  items: readonly ConversationItem[],
  dialect: string,
  model: string,
): readonly ConversationItem[] {
  if (!items.some(({ kind }) => kind === 'reasoning')) return items
  const kept: ConversationItem[] = []
  for (const item of items.toReversed()) {
    if (item.kind === 'reasoning') {
      const follower = kept.at(-1)?.kind
      const own = item.dialect === dialect && item.model === model
      if (!own || follower === undefined || !OF_AN_ANSWER.has(follower)) continue
    }
    kept.push(item)
  }
  return kept.reverse()
}

const OF_AN_ANSWER: ReadonlySet<string> = new Set(['assistant', 'tool_call', 'reasoning'])
