import * as z from 'zod'

/** The answers of vendor.worker.ts, by the end of a path: a tool call, or text. */
export const VendorAnswers = z.record(z.string(), z.object({ call: z.string(), words: z.string() }))
export type VendorAnswers = z.infer<typeof VendorAnswers>
