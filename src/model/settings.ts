import * as z from 'zod'
import { PermissionMode } from './session-events.ts'

/** What a person can set. Every field may be absent; what is absent has the default that its description names. */
export const Settings = z.strictObject({
  provider: z
    .string()
    .min(1)
    .optional()
    .describe('Model backend of new Sessions; by default the first one a key is there for.'),
  model: z
    .string()
    .min(1)
    .optional()
    .describe('Model of new Sessions; by default the one the provider marks.'),
  permission: PermissionMode.optional().describe(
    'Permission mode of new Sessions: read-only, ask (default) or auto.',
  ),
  display: z
    .strictObject({
      colour: z
        .enum(['auto', 'always', 'never'])
        .optional()
        .describe('Colours: on a terminal (auto, default), always or never.'),
      bell: z.boolean().optional().describe('Ring when a question waits; true by default.'),
    })
    .optional(),
  limits: z
    .strictObject({
      provider_calls: z
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .describe('Calls to the model in one Turn; 100 by default.'),
      waiting_turns: z
        .int()
        .min(0)
        .max(1_000)
        .optional()
        .describe('Turns that may wait behind a running one; 8 by default.'),
      command_seconds: z
        .int()
        .min(1)
        .max(600)
        .optional()
        .describe('How long a command may run when the model sets no limit; 120 by default.'),
    })
    .optional(),
})
export type Settings = z.infer<typeof Settings>

/** What a workspace may set before a person has trusted the content of its settings. */
export const UNTRUSTED_SETTINGS = ['model', 'display', 'limits'] as const

/** One setting, by the name that people give it. */
export interface Setting {
  /** As in `limits.provider_calls`. */
  readonly key: string
  readonly schema: z.ZodType
  readonly description: string
}

/** Every setting there is, in the order of the schema. */
export function allSettings(): Setting[] {
  return settingsOf(Settings, '')
}

function settingsOf(schema: z.ZodObject, prefix: string): Setting[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const key = `${prefix}${name}`
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field
    if (inner instanceof z.ZodObject) return settingsOf(inner, `${key}.`)
    if (!(field instanceof z.ZodType)) return []
    return [{ key, schema: field, description: field.description ?? '' }]
  })
}
