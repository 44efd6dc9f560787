/** Reasons of a `resource_retired` that are reported to people and models; `refused`: a provider refused the bytes. */
export const LOSSES = [
  'payload_missing',
  'payload_damaged',
  'refused',
  'too_large',
  'no_variant',
  'upload_denied',
  'holds_key',
  'no_images',
  'no_files',
  'over_side',
  'over_base64',
  'over_images',
  'over_request',
  'over_budget',
] as const
export type Loss = (typeof LOSSES)[number]

/** A loss with the figures that its sentence names. */
export interface LossRecord {
  readonly why: Loss
  readonly figures?: Readonly<Record<string, number>> | undefined
}
