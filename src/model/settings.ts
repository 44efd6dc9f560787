import * as z from 'zod'
import { baseUrl } from './base-url.ts'
import { LIMITS } from './limits.ts'
import { ModelFacts } from './model-facts.ts'
import { REMOTE_PROVIDERS, TRANSPORTS, type RemoteAccess } from './remote-providers.ts'
import { PermissionMode, Replay } from './modes.ts'

/** Limits that settings may change and that no other page names. */
export const LIMIT_DEFAULTS = {
  command_seconds: 120,
  command_processes: 4_096,
  command_memory_percent: 75,
  idle_seconds: 180,
  retries: 4,
} as const

/** How hard a model can be asked to think, in the words of all vendors together. */
const Effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

/** May it happen? As a person sets it. */
const Upload = z.enum(['allow', 'ask', 'deny'])

const Size = z.int().nonnegative()

/** While bytes stay in requests: on the Turn that attaches them, until a checkpoint, or for as long as that is cheaper. */

/** Begins with no underscore, so that no name of ours and none of the language can be meant. */
const ModelId = z.string().regex(/^[A-Za-z0-9@][\w.:/@+~=,-]{0,199}$/)

/** A key and the place it is sent to. They belong together: no key is ever sent to another place. */
function access({ key_variable, url_variable, own_url, any_server }: RemoteAccess) {
  const place = any_server ? 'Where a compatible server is' : 'Where the key is sent, and all else'
  return {
    key: z
      .string()
      .min(1)
      .optional()
      .describe(`Key that is used where ${key_variable} is not set. Never shown.`)
      .meta({ writeOnly: true }),
    base_url: z
      .url()
      .refine((text) => baseUrl(text) !== undefined)
      .optional()
      .describe(`${place}; ${url_variable} goes before it.`)
      .meta(any_server ? {} : { default: own_url }),
  }
}

const TransportSetting = z
  .enum(TRANSPORTS)
  .optional()
  .describe('How Responses travel: websocket, http-sse, or auto: a socket where one works.')
  .meta({ default: 'auto' })

/** Without `.` and `..`, which would lead elsewhere than it reads. */
const ReadablePath = z
  .string()
  .max(4095)
  .regex(/^~?(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)+\/?$/)

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
  effort: Effort.optional().describe(
    "How hard the model of new Sessions thinks; by default the model's own.",
  ),
  permission: PermissionMode.optional()
    .describe('Permission mode of new Sessions: read-only, ask (default) or auto.')
    .meta({ default: 'ask' }),
  providers: z
    .strictObject({
      anthropic: z.strictObject(access(REMOTE_PROVIDERS.anthropic)).optional(),
      openai: z
        .strictObject({ ...access(REMOTE_PROVIDERS.openai), transport: TransportSetting })
        .optional(),
      'openai-chat': z.strictObject(access(REMOTE_PROVIDERS['openai-chat'])).optional(),
    })
    .optional(),
  models: z
    .record(ModelId, ModelFacts)
    .optional()
    .describe('What is known of models, by their ids; goes before what Hawser knows of them.'),
  resources: z
    .strictObject({
      upload: Upload.optional()
        .describe('Whether attached bytes may go to a model: allow (default), ask or deny.')
        .meta({ default: 'allow' }),
      upload_image: Upload.optional().describe('The same for images; goes before upload.'),
      upload_pdf: Upload.optional().describe('The same for PDF documents.'),
      upload_text: Upload.optional().describe('The same for text files.'),
      upload_ask_over: Size.optional().describe(
        'Files of more bytes than this are asked about where they would be allowed.',
      ),
      upload_deny_over: Size.optional().describe('Files of more bytes than this never go.'),
      replay: Replay.optional()
        .describe(
          'How long new Sessions show attached bytes: attach-turn (default), window or cost-aware.',
        )
        .meta({ default: 'attach-turn' }),
    })
    .optional(),
  sandbox: z
    .strictObject({
      readable: z
        .array(ReadablePath)
        .max(64)
        .optional()
        .describe(
          'Files and folders that commands may read beside the workspace, absolute or below ~/. Credentials in them stay hidden unless named themselves.',
        ),
    })
    .optional(),
  display: z
    .strictObject({
      colour: z
        .enum(['auto', 'always', 'never'])
        .optional()
        .describe('Colours: on a terminal (auto, default), always or never.')
        .meta({ default: 'auto' }),
      pictures: z
        .enum(['auto', 'never'])
        .optional()
        .describe('Pictures in terminals that can show them (auto, default), or never.')
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
        .meta({ default: LIMIT_DEFAULTS.command_seconds }),
      command_processes: z
        .int()
        .min(16)
        .max(32_768)
        .optional()
        .describe(
          'Processes and threads that a command in the sandbox may have at once; 4096 by default.',
        )
        .meta({ default: LIMIT_DEFAULTS.command_processes }),
      command_memory_percent: z
        .int()
        .min(1)
        .max(90)
        .optional()
        .describe(
          "Share of the machine's memory that a command in the sandbox may use, in percent; 75 by default. Without control groups, each of its processes may.",
        )
        .meta({ default: LIMIT_DEFAULTS.command_memory_percent }),
      idle_seconds: z
        .int()
        .min(1)
        .max(3_600)
        .optional()
        .describe(
          'How long a model may be silent while it answers; 180 by default. Keep-alive signals without content are accepted for 10 minutes, or for this long if it is longer.',
        )
        .meta({ default: LIMIT_DEFAULTS.idle_seconds }),
      retries: z
        .int()
        .min(0)
        .max(10)
        .optional()
        .describe(
          'How often a call is made again that failed before it showed anything; 4 by default.',
        )
        .meta({ default: LIMIT_DEFAULTS.retries }),
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
  /** Where it stands. A name in it may hold dots. */
  readonly path: readonly string[]
  readonly schema: z.ZodType
  readonly description: string
  /** What counts where it is not set; absent where that depends on the machine. */
  readonly fallback?: unknown
  /** Its value is never shown to anybody. */
  readonly secret: boolean
}

/** Every setting with a name of its own, in the order of the schema. What is set of single models is not among them. */
export function allSettings(): Setting[] {
  return settingsOf(Settings, [])
}

/** Everything that can be set of one model. */
export function modelSettings(id: string): Setting[] {
  return settingsOf(ModelFacts, ['models', id])
}

/** The setting of that name. Whatever stands between `models.` and the name of a fact is the model, dots and all. */
export function settingAt(key: string): Setting | undefined {
  const found = allSettings().find((setting) => setting.key === key)
  if (found !== undefined || !key.startsWith(MODELS)) return found
  const facts = modelSettings('').map((setting) => setting.key.slice(MODELS.length))
  const fact = facts.find((ending) => key.endsWith(ending)) ?? ''
  const id = ModelId.safeParse(key.slice(MODELS.length, -fact.length))
  return id.success ? modelSettings(id.data).find((setting) => setting.key === key) : undefined
}

const MODELS = 'models.'

/** The name of a setting without what somebody chose in it, as in `models.<id>.window_tokens`. */
export function generalKey({ key, path: [group, , ...rest] }: Setting): string {
  return group === 'models' ? [group, '<id>', ...rest].join('.') : key
}

function settingsOf(schema: z.ZodObject, path: readonly string[], about = ''): Setting[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    if (!(field instanceof z.ZodType)) return []
    const here = [...path, name]
    const inner: unknown = field instanceof z.ZodOptional ? field.unwrap() : field
    const description = field.description ?? about
    if (inner instanceof z.ZodObject) return settingsOf(inner, here, description)
    if (inner instanceof z.ZodRecord) return []
    const { default: fallback, writeOnly } = field.meta() ?? {}
    const known = fallback === undefined ? {} : { fallback }
    const secret = writeOnly === true
    return [{ key: here.join('.'), path: here, schema: field, description, ...known, secret }]
  })
}
