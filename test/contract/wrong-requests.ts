/** The reason why a vendor refuses a body, the body, the path in its error, and its error code if it has one. */
export type WrongRequest = readonly [why: string, body: object, at: string, code?: string | null]

/** An image of one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** Begins like an image, but is not one. */
export const BROKEN_PIXEL = Buffer.from(PIXEL, 'base64').subarray(0, 20).toString('base64')
export const GIF = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
export const NOT_A_PDF = Buffer.from('plain text').toString('base64')
/** An image with so much data appended that its base64 exceeds Anthropic's limit. */
export const HUGE = Buffer.concat([Buffer.from(PIXEL, 'base64'), Buffer.alloc(7_500_000)]).toString(
  'base64',
)

export function without(whole: object, name: string): object {
  return Object.fromEntries(Object.entries(whole).filter(([key]) => key !== name))
}

export function repeated<T>(count: number, one: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => one(index))
}
