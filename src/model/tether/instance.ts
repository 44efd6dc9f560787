import * as z from 'zod'
import { InstanceId } from '../ids.ts'
import { RecordedFolder } from '../recorded-folder.ts'
import { boundedText, openObject, type Frozen } from '../shape.ts'

/** A name that a person gives an Instance. It never looks like an id, and is never used as a path. */
export const InstanceHandle = z
  .string()
  .regex(/^(?!ins_)[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/)
  .brand<'instance handle'>()
export type InstanceHandle = z.infer<typeof InstanceHandle>

const Seconds = z.int().positive().max(31_536_000)
const Name = boundedText(1, 200)

/** What a person chooses about an Instance. */
const choices = () => ({
  handle: InstanceHandle,
  /**
   * An absolute path, or `own`: a folder of the Instance's own. Without it, the Instance also works in its own folder, but
   * exchanges no images.
   */
  workspace: boundedText(1, 4_096)
    .refine((path) => path === 'own' || (path.startsWith('/') && !path.includes('\0')))
    .optional(),
  provider: Name.optional(),
  model: Name.optional(),
  /** `process`: without a sandbox. */
  isolation: z.enum(['sandbox', 'process']),
  enabled: z.boolean(),
  /** Seconds without work until it is paused, and seconds after that until it is stopped. */
  idle: openObject(() => ({ pause_seconds: Seconds, stop_seconds: Seconds })),
  /** How long one message may run; an hour by default. */
  message_seconds: Seconds.optional(),
  /** The most that it may spend, in US dollars. */
  ceiling_usd: z.number().nonnegative().optional(),
})

export const InstanceChoices = z.object(choices())
export type InstanceChoices = Frozen<z.infer<typeof InstanceChoices>>

/** Values of a request, not checked yet. Fields that are `undefined` are as if absent. */
export type InstanceRequest = Readonly<Partial<Record<keyof InstanceChoices, unknown>>>

/** The folder that a workspace was when it was chosen, and the `workspace` that this is the folder of. */
const InstanceFolder = openObject(() => ({ ...RecordedFolder.shape, of: z.string() }))
export type InstanceFolder = Frozen<z.infer<typeof InstanceFolder>>

/** Who creates an Instance or chooses its workspace. A program that speaks MCP may choose less. */
export const INSTANCE_CREATORS = ['operator', 'mcp'] as const

/** An Instance as it is registered. */
export const InstanceRecord = openObject(() => ({
  id: InstanceId,
  created: z.iso.datetime(),
  /** Absent in records of older versions, and for its own folder until that is used. */
  folder: InstanceFolder.optional(),
  /** Who chose the workspace. Absent in records of older versions: then it counts as the operator's choice. */
  workspace_by: z.enum(INSTANCE_CREATORS).optional(),
  ...choices(),
}))
export type InstanceRecord = Frozen<z.infer<typeof InstanceRecord>>

export const DEFAULT_IDLE = { pause_seconds: 60, stop_seconds: 300 } as const
