import * as z from 'zod'
import { failed, type Failed } from '../../model/errors.ts'
import { PermissionMode, SessionMode } from '../../model/modes.ts'
import { Effort } from '../../model/settings.ts'

/**
 * What a program passes, which may come from JavaScript or from outside. Unknown fields are refused: a field that is
 * ignored would be a promise not kept.
 */

export const Client = z.strictObject({ answers: z.boolean().optional() })

export const Create = Client.extend({
  provider: z.string().optional(),
  model: z.string().optional(),
  mode: SessionMode.optional(),
  permission: PermissionMode.optional(),
  effort: Effort.optional(),
  appendInstructions: z.array(z.string()).optional(),
})

const Settings = z.strictObject({
  mode: SessionMode.optional(),
  permission_mode: PermissionMode.optional(),
  model: z.strictObject({ provider: z.string(), model: z.string() }).optional(),
  effort: Effort.optional(),
  title: z.string().optional(),
  append_instructions: z.array(z.string()).optional(),
})

const Attachment = z.discriminatedUnion('from', [
  // The resolver judges the path.
  z.strictObject({
    from: z.literal('path'),
    path: z.unknown(),
    given: z.string().optional(),
  }),
  z.strictObject({
    from: z.literal('bytes'),
    name: z.string(),
    bytes: z.instanceof(Buffer),
  }),
  z.strictObject({
    from: z.literal('blob'),
    name: z.string(),
    blob: z.string(),
    media_type: z.string(),
    size: z.number(),
  }),
  z.strictObject({
    from: z.literal('link'),
    uri: z.string(),
    name: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    declared_media_type: z.string().optional(),
    declared_size_bytes: z.number().optional(),
  }),
])

const Admit = z.strictObject({
  whenBusy: z.enum(['refuse', 'queue', 'replace']).optional(),
  presenter: z.string().optional(),
  channel: z.string().optional(),
  user: z.strictObject({ id: z.string(), name: z.string() }).optional(),
  messageKey: z.string().optional(),
  settings: Settings.optional(),
  attachments: z.array(Attachment).optional(),
  mentions: z.array(z.strictObject({ path: z.string(), given: z.string().optional() })).optional(),
  piped: z.string().optional(),
  views: z.array(z.string()).optional(),
  skills: z.array(z.object({ name: z.string() })).optional(),
  skillsBy: z.enum(['person', 'presenter']).optional(),
  presenterContext: z.record(z.string(), z.string()).optional(),
})

const ChoiceInput = z.strictObject({ choice: z.int(), text: z.string().optional() })

const ForkPoint = z.union([z.strictObject({ turn: z.int() }), z.strictObject({ seq: z.int() })])

const Rewind = z.strictObject({
  turn: z.int(),
  files: z.boolean().optional(),
  conflicts: z.enum(['refuse', 'leave', 'overwrite']).optional(),
  summary: z.boolean().optional(),
})

/** Why the input of a program to a Session is refused; `undefined` if it matches. */
export const INPUT_CHECKS = {
  message: (text: unknown, options: unknown) =>
    refusedInput(z.string(), text) ?? refusedInput(Admit, options),
  settings: (change: unknown) => refusedInput(Settings, change),
  answer: (answer: unknown) => refusedInput(ChoiceInput, answer),
  fork: (at: unknown) => refusedInput(ForkPoint.optional(), at),
  rewind: (options: unknown) => refusedInput(Rewind, options),
}

/** Why a value is refused; `undefined` if it matches. */
export function refusedInput(schema: z.ZodType, value: unknown): Failed | undefined {
  const judged = schema.safeParse(value)
  return judged.success ? undefined : failed('invalid_args', z.prettifyError(judged.error))
}
