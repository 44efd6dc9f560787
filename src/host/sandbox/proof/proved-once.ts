import type { BubblewrapSearch } from './find-bubblewrap.ts'

/** Searches until bubblewrap passed the self-test, and then keeps the result. A failure is not kept, because it may be fixed. */
export function provedOnce(
  search: () => Promise<BubblewrapSearch>,
): () => Promise<BubblewrapSearch> {
  let proved: Promise<BubblewrapSearch> | undefined
  const forget = () => {
    proved = undefined
  }
  return () => {
    if (proved !== undefined) return proved
    const searching = search()
    proved = searching
    searching.then(({ bubblewrap }) => (bubblewrap === undefined ? forget() : undefined), forget)
    return searching
  }
}
