import * as z from 'zod'
import { Replay } from './modes.ts'
import { closedObject, type Frozen } from './shape.ts'

/** All inputs besides text that the bytes of a request can depend on. */
export const SurfaceParams = closedObject(() => ({
  replay: Replay,
  late_role: z.string(),
  effort: z.string().exactOptional(),
  tool_choice: z.string(),
  /** The model reasons, and its reasoning is sent back to it. */
  reasoning: z.boolean().exactOptional(),
  /** The server accepts a prompt cache key. */
  cache_key: z.boolean().exactOptional(),
  /** Whether the model accepts images and PDF files; absent if unknown. */
  images: z.boolean().exactOptional(),
  files: z.boolean().exactOptional(),
  /** The limits of the model that requests must fit, by their names in its facts, and those of a Turn. */
  limits: z.record(z.string(), z.number()),
}))
export type SurfaceParams = Frozen<z.infer<typeof SurfaceParams>>

const ToolSchema = closedObject(() => ({
  name: z.string(),
  description: z.string(),
  /** JSON Schema. */
  parameters: z.record(z.string(), z.unknown()),
}))
export interface ToolSchema extends Readonly<z.infer<typeof ToolSchema>> {
  readonly parameters: Readonly<Record<string, unknown>>
}

/** The start of all requests of a Session, and the parameters that affect their bytes; frozen when the Session starts. */
export const Surface = closedObject(() => ({
  contract_version: z.string(),
  model: z.string(),
  /** Layer 0, then the text that Layer 1 adds; each is a system block. */
  system: z.array(z.string()),
  /** Sorted by name. */
  tools: z.array(ToolSchema),
  params: SurfaceParams,
}))
export type Surface = Frozen<z.infer<typeof Surface>>
