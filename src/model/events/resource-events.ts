import * as z from 'zod'
import { Descriptor, Handle } from '../descriptor.ts'
import { BlobKey, ResourceId, Sha256 } from '../ids.ts'
import { Region, Span, VariantMade } from '../variant-made.ts'
import { Dialect } from './provider-events.ts'
import { Count, openObject } from '../shape.ts'

export const ResourceIngested = openObject(() => ({
  descriptor: Descriptor,
  origin: z.enum(['tool', 'egress', 'hydration']),
}))

export const VIEW_OUTCOMES = [
  'projected',
  'missing',
  'damaged',
  'denied',
  'quarantined',
  'over_budget',
  'visible',
] as const
export type ViewOutcome = (typeof VIEW_OUTCOMES)[number]

export const ResourceView = openObject(() => ({
  resource_id: ResourceId,
  handle: Handle,
  by: z.enum(['model', 'person', 'hydration']),
  reason: z.string().optional(),
  pages: Span.optional(),
  lines: Span.optional(),
  region: Region.optional(),
  size: openObject(() => ({ width: Count, height: Count })).optional(),
  /** Absent for a link, whose target was never fetched. */
  content_sha256: Sha256.optional(),
  /** The blob that is shown instead of the whole original, and how it was made. */
  variant: BlobKey.optional(),
  made: VariantMade.optional(),
  /** The handle under which the bytes are already visible, if it is another one. */
  same_as: Handle.optional(),
  /** The size of the shown bytes. */
  shown_bytes: Count.optional(),
  outcome: z.enum(VIEW_OUTCOMES),
  /** Why it was denied; `holds_key`: its content contains a key that Hawser uses. */
  why: z.string().optional(),
  /** Set if the Resource was added before the checkpoint in force. */
  descriptor: Descriptor.optional(),
}))

export const ResourceRetired = openObject(() => ({
  resource_id: ResourceId,
  why: z.string(),
  /** The figures that the decision is based on, by name. */
  estimate: z.record(z.string(), z.number()).optional(),
}))

export const ResourceDropped = openObject(() => ({
  resource_id: ResourceId,
  by: z.enum(['person', 'model', 'policy']),
}))

export const ResourceQuarantined = openObject(() => ({
  resource_id: ResourceId,
  dialect: Dialect,
  provider_error: openObject(() => ({
    message: z.string(),
    status: z.int().optional(),
    code: z.string().optional(),
  })),
}))
