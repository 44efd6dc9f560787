import type { ConversationItem } from '../model/conversation.ts'

/**
 * Items without the reasoning that may not go back: it is opaque to everyone but the model that wrote it, in the dialect it
 * was written in, and vendors refuse reasoning that nothing of the same answer follows. An answer is recorded at once, so
 * what follows an item is known whenever the item is. Pure.
 */
export function replayedReasoning(
  items: readonly ConversationItem[],
  dialect: string,
  model: string,
): ConversationItem[] {
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
