/** Texts that were deleted by keys that keep them, the latest last. */
export interface KillRing {
  readonly texts: readonly string[]
  /** Which text the last Ctrl-Y put back. */
  readonly at: number
}

export const NO_KILLS: KillRing = { texts: [], at: 0 }

const MOST_TEXTS = 32

/** Adds a text. Kills in a row become one text: `joins` says on which side of the latest. */
export function addKill(ring: KillRing, text: string, joins: 'before' | 'after' | 'new'): KillRing {
  if (text === '') return ring
  const latest = ring.texts.at(-1)
  if (joins === 'new' || latest === undefined) return ringOf([...ring.texts, text])
  return ringOf([...ring.texts.slice(0, -1), joins === 'before' ? text + latest : latest + text])
}

/** The text that Ctrl-Y puts back. */
export function latestKill({ texts }: KillRing): string {
  return texts.at(-1) ?? ''
}

/** The ring with the text before the one that was put back last, from the oldest to the latest again. */
export function earlierKill(ring: KillRing): { readonly ring: KillRing; readonly text: string } {
  const { texts, at } = ring
  const next = (at + texts.length - 1) % Math.max(1, texts.length)
  return { ring: { texts, at: next }, text: texts[next] ?? '' }
}

/** Ctrl-Y starts at the latest text. */
export function fromLatest({ texts }: KillRing): KillRing {
  return ringOf(texts)
}

function ringOf(texts: readonly string[]): KillRing {
  const kept = texts.slice(-MOST_TEXTS)
  return { texts: kept, at: Math.max(0, kept.length - 1) }
}
