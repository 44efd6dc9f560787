import * as z from 'zod'
import { Count, Flag, openObject, type Frozen } from '../shape.ts'

/** A value that an activation or a hydration supplies. It replaces a whole argument, never part of one. */
export const SourceParameter = openObject(() => ({
  type: z.enum(['string', 'integer', 'path', 'choice']),
  description: z.string().optional(),
  /** Used if no value is supplied; without it the parameter is required. */
  default: z.union([z.string(), z.int()]).optional(),
  /** For `choice`. */
  choices: z.array(z.string()).optional(),
  /** For `integer`. */
  minimum: z.int().optional(),
  maximum: z.int().optional(),
}))
export type SourceParameter = Frozen<z.infer<typeof SourceParameter>>

/** Where the facts come from. An argument `{name}` is replaced by the parameter with that name. */
export const SourceOrigin = z.discriminatedUnion('kind', [
  /** An argument vector; there is no shell. */
  openObject(() => ({ kind: z.literal('command'), argv: z.array(z.string()).min(1) })),
  /** A file, relative to the workspace. */
  openObject(() => ({ kind: z.literal('file'), path: z.string() })),
  /** A view of a Resource of the Session. */
  openObject(() => ({ kind: z.literal('resource_view'), handle: z.string() })),
  /** A fact of Presenter Context. */
  openObject(() => ({ kind: z.literal('presenter'), fact: z.string() })),
  /** A call of a tool that only reads. */
  openObject(() => ({
    kind: z.literal('tool'),
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
  })),
])
export type SourceOrigin = Frozen<z.infer<typeof SourceOrigin>>

/** A source of dynamic facts that a Skill declares. Nothing else can be hydrated. */
export const ContextSource = openObject(() => ({
  id: z.string(),
  description: z.string().optional(),
  from: SourceOrigin,
  parameters: z.record(z.string(), SourceParameter).optional(),
  /** The maximum size of what is shown. */
  max_bytes: Count,
  timeout_ms: Count,
  /** Hydrate it with every activation; only for sources that only read. */
  auto: Flag,
}))
export type ContextSource = Frozen<z.infer<typeof ContextSource>>

/** A source to hydrate, with values of its parameters. */
export interface SourceRequest {
  readonly id: string
  readonly args?: Readonly<Record<string, unknown>> | undefined
}

/** A Skill that a person or a presenter activates with a message. */
export interface SkillRequest {
  readonly name: string
  /** The rest of the line, as typed. Never substituted into anything. */
  readonly args?: string | undefined
  readonly with?: readonly SourceRequest[] | undefined
}
