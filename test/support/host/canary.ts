/**
 * The API key of every test that needs one; it is not a real key. A run fails if it leaves the key in any file except the
 * settings that store it: in a Log, a blob or the output of a program.
 */
export const CANARY_KEY = 'sk-canary-Hq7xW2vN9pLr4tZc8mYd'

/** A part of the key of this length reveals it: text that is cut inside the key must not contain one. */
const REVEALING_LENGTH = 12

/** Every part of the key that is just long enough to reveal it. */
export const CANARY_PARTS: readonly string[] = Array.from(
  { length: CANARY_KEY.length - REVEALING_LENGTH + 1 },
  (_, at) => CANARY_KEY.slice(at, at + REVEALING_LENGTH),
)
