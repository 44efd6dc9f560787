import * as z from 'zod'

const Amount = z.int().positive()
const Price = z.number().nonnegative()

/** Facts about a model. An unpublished figure is absent, and features that need it are unavailable. */
export const ModelFacts = z.strictObject({
  window_tokens: Amount.optional().describe(
    'Context window: tokens of prompt and answer together.',
  ),
  output_tokens: Amount.optional().describe('Maximum number of tokens in one answer.'),
  image_base64_bytes: Amount.optional().describe(
    'Maximum size of one image in base64, in bytes; must be greater than 0.',
  ),
  image_side_pixels: Amount.optional().describe(
    'Maximum length of the longer side of an image, in pixels.',
  ),
  image_count: Amount.optional().describe('Maximum number of images in one request.'),
  request_bytes: Amount.optional().describe('Maximum size of one request, in bytes.'),
  images: z.boolean().optional().describe('Whether the model accepts images.'),
  files: z.boolean().optional().describe('Whether the model accepts PDF files.'),
  reasoning: z.boolean().optional().describe('Whether the model reasons before it answers.'),
  late_role: z
    .enum(['developer', 'system', 'user'])
    .optional()
    .describe('Role of the facts that a Session adds during the conversation.'),
  cache_key: z.boolean().optional().describe('Whether the server accepts a prompt cache key.'),
  requests_per_minute: Amount.optional().describe(
    'Maximum rate of requests with one cache key that still share a cache, per minute.',
  ),
  prices: z
    .strictObject({
      input: Price.optional(),
      output: Price.optional(),
      cached_read: Price.optional(),
      cache_write: Price.optional(),
    })
    .optional()
    .describe('Prices in US dollars per million tokens.'),
})
export type ModelFacts = z.infer<typeof ModelFacts>

/** A model of the catalogue. */
export interface ModelRow {
  readonly provider: string
  readonly id: string
  /** The default model of its provider; there is one per provider. */
  readonly default: boolean
  readonly facts: ModelFacts
  /** The source of each fact, by its name. */
  readonly sources: Readonly<Record<string, string>>
}
