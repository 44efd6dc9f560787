import * as z from 'zod'

const Amount = z.int().positive()
const Price = z.number().nonnegative()

/** What is known of a model. A figure that nobody published is absent, and whatever needs it is unavailable. */
export const ModelFacts = z.strictObject({
  window_tokens: Amount.optional().describe('Tokens of prompt and answer together.'),
  output_tokens: Amount.optional().describe('Tokens of one answer at most.'),
  image_base64_bytes: Amount.optional().describe('Bytes of one image in base64; 0 is no figure.'),
  image_side_pixels: Amount.optional().describe('Pixels of the longer side of an image.'),
  image_count: Amount.optional().describe('Images in one request.'),
  request_bytes: Amount.optional().describe('Bytes of one request.'),
  images: z.boolean().optional().describe('Whether it takes images at all.'),
  files: z.boolean().optional().describe('Whether it takes PDF files.'),
  reasoning: z.boolean().optional().describe('Whether it reasons before it answers.'),
  late_role: z
    .enum(['developer', 'system', 'user'])
    .optional()
    .describe('Role of facts that a Session adds to its conversation.'),
  cache_key: z.boolean().optional().describe('Whether its server takes a prompt cache key.'),
  requests_per_minute: Amount.optional().describe(
    'Requests a minute of one cache key that find the same cache.',
  ),
  prices: z
    .strictObject({
      input: Price.optional(),
      output: Price.optional(),
      cached_read: Price.optional(),
      cache_write: Price.optional(),
    })
    .optional()
    .describe('US dollars for a million tokens.'),
})
export type ModelFacts = z.infer<typeof ModelFacts>

/** A model of the catalogue. */
export interface ModelRow {
  readonly provider: string
  readonly id: string
  /** The model of a provider for whoever names none; one a provider. */
  readonly default: boolean
  readonly facts: ModelFacts
  /** Where each fact comes from, by its name. */
  readonly sources: Readonly<Record<string, string>>
}
