import * as z from 'zod'
import { baseUrl } from './base-url.ts'
import { LIMIT_DEFAULTS, LIMITS, TIER_PERCENT } from './limits.ts'
import { ModelFacts } from './model-facts.ts'
import { REMOTE_PROVIDERS, TRANSPORTS, type RemoteAccess } from './remote-providers.ts'
import {
  CompactionPolicy,
  CompactionSummary,
  Engine,
  InstructionsSetting,
  PermissionMode,
  Replay,
} from './modes.ts'

/** How much a model reasons: the union of the levels of all vendors. */
export const Effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
export type Effort = z.infer<typeof Effort>

/** The colours of the display. `auto` is `dark` or `light`, by the background of the terminal. */
export const Theme = z.enum(['auto', 'dark', 'light', 'high-contrast', 'none'])
export type Theme = z.infer<typeof Theme>

/** The user's decision on uploads. */
const Upload = z.enum(['allow', 'ask', 'deny'])

const Size = z.int().nonnegative()

/** Must not start with an underscore, so that it cannot be `__proto__` or the like. */
const ModelId = z.string().regex(/^[A-Za-z0-9@][\w.:/@+~=,-]{0,199}$/)

/** A key and its base URL. They belong together: a key is never sent to another origin. */
function access({ key_variable, url_variable, own_url, any_server }: RemoteAccess) {
  const place = any_server
    ? 'Base URL of a compatible server'
    : 'Base URL for all requests, which carry the key'
  return {
    key: z
      .string()
      .min(1)
      .optional()
      .describe(`API key, used if ${key_variable} is not set. Never shown.`)
      .meta({ writeOnly: true }),
    base_url: z
      .url()
      .refine((text) => baseUrl(text) !== undefined)
      .optional()
      .describe(`${place}; ${url_variable} takes precedence.`)
      .meta(any_server ? {} : { default: own_url }),
  }
}

/** The Bot API server of Telegram. */
export const TELEGRAM_API = 'https://api.telegram.org'

const TransportSetting = z
  .enum(TRANSPORTS)
  .optional()
  .describe(
    'Transport of the Responses API: websocket, http-sse, or auto (a WebSocket if possible).',
  )
  .meta({ default: 'auto' })

function tierPercent(tier: keyof typeof TIER_PERCENT, what: string) {
  return z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(
      `Share of the context window, in percent, for the ${tier} tier; ${TIER_PERCENT[tier]} by default. ${what}.`,
    )
    .meta({ default: TIER_PERCENT[tier] })
}

/** Rejects `.` and `..` segments, so that the text of a path shows where it leads. */
const ReadablePath = z
  .string()
  .max(4095)
  .regex(/^~?(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)+\/?$/)

/** Everything a user can set. Every field is optional and has the default given here. */
export const Settings = z.strictObject({
  provider: z
    .string()
    .min(1)
    .optional()
    .describe('Provider of new Sessions; by default the first one with a key.'),
  model: z
    .string()
    .min(1)
    .optional()
    .describe('Model of new Sessions; by default that of the provider.'),
  effort: Effort.optional().describe(
    "Reasoning effort of new Sessions; by default the model's own.",
  ),
  permission: PermissionMode.optional()
    .describe('Permission mode of new Sessions: read-only, ask (default) or auto.')
    .meta({ default: 'ask' }),
  engine: Engine.optional()
    .describe('Where Sessions are stored: files (default).')
    .meta({ default: 'files' }),
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
    .describe('Facts about models by model id; they override the built-in catalogue.'),
  resources: z
    .strictObject({
      upload: Upload.optional()
        .describe('Whether attached bytes may be sent to a model: allow (default), ask or deny.')
        .meta({ default: 'allow' }),
      upload_image: Upload.optional().describe(
        'The same for images; takes precedence over upload.',
      ),
      upload_pdf: Upload.optional().describe(
        'The same for PDF documents; takes precedence over upload.',
      ),
      upload_text: Upload.optional().describe(
        'The same for text files; takes precedence over upload.',
      ),
      upload_ask_over: Size.optional().describe(
        'Ask before sending a file larger than this many bytes, even if it is allowed.',
      ),
      upload_deny_over: Size.optional().describe('Never send a file larger than this many bytes.'),
      replay: Replay.optional()
        .describe(
          'How long new Sessions keep sending attached bytes: attach-turn (default), window or cost-aware.',
        )
        .meta({ default: 'attach-turn' }),
    })
    .optional(),
  instructions: InstructionsSetting.optional()
    .describe(
      'Project instructions (AGENTS.md, else CLAUDE.md): name (default: the model is given their names and reads them) or load (their text is included, if you trust it).',
    )
    .meta({ default: 'name' }),
  compaction: z
    .strictObject({
      summary: CompactionSummary.optional()
        .describe(
          'How the summary of a checkpoint is written: excerpts (default: without a model) or model (by the model of the Session, in one more call).',
        )
        .meta({ default: 'excerpts' }),
      policy: CompactionPolicy.optional()
        .describe(
          'When a Session is compacted between Turns: manual (default: only if you ask for it) or auto (before a Turn, if the last call was at least at the warning tier).',
        )
        .meta({ default: 'manual' }),
    })
    .optional(),
  pressure: z
    .strictObject({
      advisory_percent: tierPercent('advisory', 'A first notice says how full it is'),
      warning_percent: tierPercent('warning', 'A warning suggests a compaction'),
      critical_percent: tierPercent(
        'critical',
        'Above it, the conversation is compacted before the next call',
      ),
    })
    .optional(),
  sandbox: z
    .strictObject({
      readable: z
        .array(ReadablePath)
        .max(64)
        .optional()
        .describe(
          'Files and folders outside the workspace that commands may read, absolute or starting with ~/. Credentials in them stay hidden unless listed themselves.',
        ),
    })
    .optional(),
  instances: z
    .strictObject({
      roots: z
        .array(ReadablePath)
        .max(64)
        .optional()
        .describe(
          'Folders below which programs that speak MCP may choose the workspace of an Instance that they create, absolute or starting with ~/. None by default: such an Instance gets a new, separate folder.',
        ),
    })
    .optional(),
  telegram: z
    .strictObject({
      token: z
        .string()
        .min(1)
        .optional()
        .describe('Token of the Telegram bot; set by `hawser telegram connect`. Never shown.')
        .meta({ writeOnly: true }),
      api_root: z
        .url()
        .refine((text) => baseUrl(text) !== undefined)
        .optional()
        .describe(
          'URL of a Bot API server of your own; applies with the next `hawser telegram connect`.',
        )
        .meta({ default: TELEGRAM_API }),
      drafts: z
        .boolean()
        .optional()
        .describe(
          'Show answers in private chats while they are written, as drafts; false by default.',
        )
        .meta({ default: false }),
    })
    .optional(),
  display: z
    .strictObject({
      colour: z
        .enum(['auto', 'always', 'never'])
        .optional()
        .describe('Colours: auto (default: only on a terminal), always or never.')
        .meta({ default: 'auto' }),
      theme: Theme.optional()
        .describe(
          'Colours of the chat and of answers: auto (default: dark or light, by the background of the terminal), dark, light, high-contrast, or none (bold and underline only).',
        )
        .meta({ default: 'auto' }),
      pictures: z
        .enum(['auto', 'never'])
        .optional()
        .describe('Images in the terminal: auto (default: if it supports them) or never.')
        .meta({ default: 'auto' }),
      bell: z
        .boolean()
        .optional()
        .describe(
          'Ring the terminal bell when a question waits or a Turn of more than 20 s ends; true by default.',
        )
        .meta({ default: true }),
      notify: z
        .boolean()
        .optional()
        .describe(
          'Ask the terminal for a desktop notification (OSC 9 or OSC 777) when a question waits in a chat or a Turn of more than 20 s ends; true by default.',
        )
        .meta({ default: true }),
      title: z
        .boolean()
        .optional()
        .describe('Show the state of a chat in the title of the terminal; true by default.')
        .meta({ default: true }),
    })
    .optional(),
  input: z
    .strictObject({
      keys: z
        .enum(['usual', 'vim'])
        .optional()
        .describe('Keys of the input of a chat: usual (default: those of readline) or vim.')
        .meta({ default: 'usual' }),
      history: z
        .boolean()
        .optional()
        .describe(
          'Store what you type in a chat, without keys: sent messages for Up and Ctrl-R in all Sessions of the folder, and an unsent draft; true by default.',
        )
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
        .describe('Maximum number of model calls in one Turn; 100 by default.')
        .meta({ default: LIMITS.turn_provider_calls }),
      waiting_turns: z
        .int()
        .min(0)
        .max(1_000)
        .optional()
        .describe('Maximum number of Turns that wait behind a running one; 8 by default.')
        .meta({ default: LIMITS.session_waiting_turns }),
      question_seconds: z
        .int()
        .min(0)
        .max(86_400)
        .optional()
        .describe(
          'How long a permission question waits, in seconds, while no client is attached that can answer; 120 by default.',
        )
        .meta({ default: LIMIT_DEFAULTS.question_seconds }),
      command_seconds: z
        .int()
        .min(1)
        .max(600)
        .optional()
        .describe('Time limit of a command, in seconds, if the model sets none; 120 by default.')
        .meta({ default: LIMIT_DEFAULTS.command_seconds }),
      command_processes: z
        .int()
        .min(16)
        .max(32_768)
        .optional()
        .describe(
          'Maximum number of processes and threads of a command in the sandbox; 4096 by default.',
        )
        .meta({ default: LIMIT_DEFAULTS.command_processes }),
      command_memory_percent: z
        .int()
        .min(1)
        .max(90)
        .optional()
        .describe(
          "Maximum share of the machine's memory for a command in the sandbox, in percent; 75 by default. Without control groups, the limit applies to each process.",
        )
        .meta({ default: LIMIT_DEFAULTS.command_memory_percent }),
      idle_seconds: z
        .int()
        .min(1)
        .max(3_600)
        .optional()
        .describe(
          'How long a model may send nothing while it answers, in seconds; 180 by default. Keep-alive signals without content are accepted for 10 minutes, or for this long if it is longer.',
        )
        .meta({ default: LIMIT_DEFAULTS.idle_seconds }),
      retries: z
        .int()
        .min(0)
        .max(10)
        .optional()
        .describe(
          'How often to retry a model call that failed before it produced output; 4 by default.',
        )
        .meta({ default: LIMIT_DEFAULTS.retries }),
    })
    .optional(),
})
export type Settings = z.infer<typeof Settings>

/** The settings of a workspace that apply before the user trusts it. */
export const UNTRUSTED_SETTINGS = ['model', 'display', 'limits'] as const

/** One setting by its name. */
export interface Setting {
  /** For example `limits.provider_calls`. */
  readonly key: string
  /** The path in the settings object. A segment may contain dots. */
  readonly path: readonly string[]
  readonly schema: z.ZodType
  readonly description: string
  /** The default; absent if it depends on the machine. */
  readonly fallback?: unknown
  /** The value is never shown. */
  readonly secret: boolean
}

/** Every setting with a fixed name, in the order of the schema; excludes the facts of single models. */
export function allSettings(): Setting[] {
  return settingsOf(Settings, [])
}

/** The settings of one model. */
export function modelSettings(id: string): Setting[] {
  return settingsOf(ModelFacts, ['models', id])
}

/** The setting with that name. Everything between `models.` and the name of a fact is the model id, dots included. */
export function settingAt(key: string): Setting | undefined {
  const found = allSettings().find((setting) => setting.key === key)
  if (found !== undefined || !key.startsWith(MODELS)) return found
  const facts = modelSettings('').map((setting) => setting.key.slice(MODELS.length))
  const fact = facts.find((ending) => key.endsWith(ending)) ?? ''
  const id = ModelId.safeParse(key.slice(MODELS.length, -fact.length))
  return id.success ? modelSettings(id.data).find((setting) => setting.key === key) : undefined
}

const MODELS = 'models.'

/** The name of a setting with a placeholder for the model id: `models.<id>.window_tokens`. */
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
