/** Keys of messages that this process has accepted. */
export interface RecentKeys {
  add(key: string): void
  has(key: string): boolean
}

/** The oldest are forgotten. */
const KEPT = 10_000

export function recentKeys(kept = KEPT): RecentKeys {
  const keys = new Set<string>()
  return {
    add: (key) => {
      keys.add(key)
      const [oldest] = keys
      if (keys.size > kept && oldest !== undefined) keys.delete(oldest)
    },
    has: (key) => keys.has(key),
  }
}
