/**
 * The key that every test uses which needs one. It is nobody's. A run fails that leaves it in any file but the settings it was
 * stored in: not in a Log, not in a blob, not in what a program printed.
 */
export const CANARY_KEY = 'sk-canary-Hq7xW2vN9pLr4tZc8mYd'
