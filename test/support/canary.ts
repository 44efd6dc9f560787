/**
 * The key that every test uses which needs one. It is nobody's. A run fails that leaves it in any file but the settings it was
 * stored in: not in a Log, not in a blob, not in what a program printed.
 */
export const CANARY_KEY = 'sk-canary-Hq7xW2vN9pLr4tZc8mYd'

/** So much of the key gives it away: a cut through the key must not leave a part of this length. */
const TELLING = 12

/** Every part of the key that is just long enough to give it away. */
export const CANARY_PARTS: readonly string[] = Array.from(
  { length: CANARY_KEY.length - TELLING + 1 },
  (_, at) => CANARY_KEY.slice(at, at + TELLING),
)
