import * as z from 'zod'
import { LIMITS } from './limits.ts'
import { PermissionMode } from './session-events.ts'

/** What a person can set. Every field may be absent; what is absent has the default that stands here. */
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
  permission: PermissionMode.optional()
    .describe('Permission mode of new Sessions: read-only, ask (default) or auto.')
    .meta({ default: 'ask' }),
  display: z
    .strictObject({
      colour: z
        .enum(['auto', 'always', 'never'])
        .optional()
        .describe('Colours: on a terminal (auto, default), always or never.')
        .meta({ default: 'auto' }),
      bell: z
        .boolean()
        .optional()
        .describe('Ring when a question waits; true by default.')
        .meta({ default: true }),
    })
    .optional(),
  limits: z
    .strictObject({
      provider_calls: z
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .describe('Calls to the model in one Turn; 100 by default.')
        .meta({ default: LIMITS.turn_provider_calls }),
      waiting_turns: z
        .int()
        .min(0)
        .max(1_000)
        .optional()
        .describe('Turns that may wait behind a running one; 8 by default.')
        .meta({ default: LIMITS.session_waiting_turns }),
      command_seconds: z
        .int()
        .min(1)
        .max(600)
        .optional()
        .describe('How long a command may run when the model sets no limit; 120 by default.')
        .meta({ default: 120 }),
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
  /** What counts where it is not set; absent where that depends on the machine. */
  readonly fallback?: unknown
}

/** Every setting there is, in the order of the schema. */
export function allSettings(): Setting[] {
  return settingsOf(Settings, '')
}

function settingsOf(schema: z.ZodObject, prefix: string): Setting[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const key = `${prefix}${name}`
    const inner: unknown = field instanceof z.ZodOptional ? field.unwrap() : field
    if (inner instanceof z.ZodObject) return settingsOf(inner, `${key}.`)
    if (!(field instanceof z.ZodType)) return []
    const fallback: unknown = field.meta()?.['default']
    const known = fallback === undefined ? {} : { fallback }
    return [{ key, schema: field, description: field.description ?? '', ...known }]
  })
}
