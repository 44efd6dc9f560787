import * as z from 'zod'

/** What vendor.worker.ts answers, by the end of a path: with a call of a tool, or with words. */
export const VendorAnswers = z.record(z.string(), z.object({ call: z.string(), words: z.string() }))
export type VendorAnswers = z.infer<typeof VendorAnswers>
