import type { ModelFacts } from '../../model/model-facts.ts'

/** The date on which these figures were looked up. */
export const AS_OF = '2026-11-16'

/**
 * The sources by name. If a vendor charges more for prompts above some length, the table has the prices for shorter
 * prompts.
 */
export const SOURCES = {
  settings: 'config.json of the user',
  'npm:@earendil-works/pi-ai@0.74.2': 'dist/models.generated.js of the npm package, MIT',
  'npm:openai@6.49.0': 'types of the npm package: message roles, prompt_cache_key',

  'claude:models': 'https://platform.claude.com/docs/en/models/overview',
  'claude:pricing': 'https://platform.claude.com/docs/en/about-claude/pricing',
  'claude:vision': 'https://platform.claude.com/docs/en/build-with-claude/vision',
  'claude:pdf': 'https://platform.claude.com/docs/en/build-with-claude/pdf-support',
  'claude:api': 'https://platform.claude.com/docs/en/api/overview (request size limits)',
  'claude:late-system':
    'https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages',
  'claude:opus-5-5': 'https://platform.claude.com/docs/en/models/opus-5-5/overview',
  'claude:fable-5-2': 'https://platform.claude.com/docs/en/models/fable-5-2/whats-new-fable-5-2',
  'claude:sonnet-5-5':
    'https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5 (feature support)',
  'claude:haiku-5-5':
    'https://platform.claude.com/docs/en/models/haiku-5-5/overview (prompts up to 100,000 tokens)',
  'claude:opus-5': 'https://platform.claude.com/docs/en/models/opus-5/overview',
  'claude:sonnet-5': 'https://platform.claude.com/docs/en/models/sonnet-5/overview',
  'claude:fable-5-1': 'https://platform.claude.com/docs/en/models/fable-5-1/overview',
  'claude:fable-5': 'https://platform.claude.com/docs/en/models/fable-5/overview',
  'claude:opus-4-8': 'https://platform.claude.com/docs/en/models/opus-4-8/overview',
  'claude:sonnet-4-6': 'https://platform.claude.com/docs/en/models/sonnet-4-6/overview',
  'laozhang:fable-5-2':
    'https://docs.laozhang.ai/announcements/claude-fable-5-2-2026-11.md (prices as of the vendor)',

  'openai:compare': 'https://developers.openai.com/api/docs/models/compare',
  'openai:caching': 'https://developers.openai.com/api/docs/guides/prompt-caching',
  'openai:vision': 'https://developers.openai.com/api/docs/guides/images-vision',
  'openai:files': 'https://developers.openai.com/api/docs/guides/file-inputs',
  'openai:gpt-6-astra':
    'https://developers.openai.com/api/docs/models/gpt-6-astra (prompts up to 272K tokens)',
  'openai:gpt-6.1-sol':
    'https://developers.openai.com/api/docs/models/gpt-6.1-sol (prompts up to 272K tokens)',
  'openai:gpt-6.1-terra':
    'https://developers.openai.com/api/docs/models/gpt-6.1-terra (prompts up to 272K tokens)',
  'openai:gpt-6-sol':
    'https://developers.openai.com/api/docs/models/gpt-6-sol (prompts up to 272K tokens)',
  'openai:gpt-6-luna':
    'https://developers.openai.com/api/docs/models/gpt-6-luna (prompts up to 272K tokens)',
  'openai:gpt-5.6-sol':
    'https://developers.openai.com/api/docs/models/gpt-5.6-sol (prompts up to 272K tokens)',
  'openai:gpt-5.6-terra':
    'https://developers.openai.com/api/docs/models/gpt-5.6-terra (prompts up to 272K tokens)',
  'openai:gpt-5.6-luna':
    'https://developers.openai.com/api/docs/models/gpt-5.6-luna (prompts up to 272K tokens)',
  'openai:gpt-5.4-pro': 'https://developers.openai.com/api/docs/models/gpt-5.4-pro',
  'openai:chat-tools':
    'https://community.openai.com/t/gpt-5-6-chat-completion-reasoning-effort-bug-behavior-change/1386454',
} as const

export type SourceName = keyof typeof SOURCES

/** Facts from one source. */
interface SourcedFacts {
  readonly source: SourceName
  readonly facts: ModelFacts
}

/** A model of the table; no two sources give the same fact. */
export interface ListedModel {
  readonly provider: string
  readonly id: string
  readonly default?: true
  readonly sources: readonly SourcedFacts[]
}

const K = 1_000
const M = 1_000_000
const PI_AI = 'npm:@earendil-works/pi-ai@0.74.2'

/** US dollars for a million tokens, in the order of most price lists. */
function prices(input: number, output: number, cached_read: number, cache_write?: number) {
  const write = cache_write === undefined ? {} : { cache_write }
  return { prices: { input, output, cached_read, ...write } }
}

function from(source: SourceName, facts: ModelFacts): SourcedFacts {
  return { source, facts }
}

const SEES_AND_REASONS: ModelFacts = { images: true, reasoning: true }
const LARGE: ModelFacts = { window_tokens: M, output_tokens: 128 * K }

/** A vendor's MB is read as a million bytes: a request within that limit is also within the larger one. */
const CLAUDE: readonly SourcedFacts[] = [
  from('claude:pdf', { files: true }),
  from('claude:api', { request_bytes: 32 * M }),
  // The vendor accepts many more images if no side exceeds 2000 pixels; up to 20 may be this large.
  from('claude:vision', {
    image_base64_bytes: 10 * M,
    image_side_pixels: 8000,
    image_count: 20,
  }),
]

const LATE_SYSTEM = from('claude:late-system', { late_role: 'system' })
/** For models that the page, as it was read, does not list; every model accepts this role. */
const LATE_USER = from('claude:late-system', { late_role: 'user' })
const CURRENT_CLAUDE = from('claude:models', SEES_AND_REASONS)

function claude(id: string, ...sourced: readonly SourcedFacts[]): ListedModel {
  return { provider: 'anthropic', id, sources: [...sourced, ...CLAUDE] }
}

/** The facts of pi-ai about a Claude model. */
function older(window_tokens: number, output_tokens: number, price: ModelFacts): SourcedFacts {
  return from(PI_AI, { window_tokens, output_tokens, ...SEES_AND_REASONS, ...price })
}

const HAIKU_4_5 = older(200 * K, 64 * K, prices(1, 5, 0.1, 1.25))

const ANTHROPIC: readonly ListedModel[] = [
  {
    ...claude(
      'claude-opus-5-5',
      from('claude:opus-5-5', { ...LARGE, ...prices(4, 20, 0.2, 5) }),
      CURRENT_CLAUDE,
      LATE_SYSTEM,
    ),
    default: true,
  },
  claude(
    'claude-fable-5-2',
    from('claude:fable-5-2', LARGE),
    from('laozhang:fable-5-2', prices(8, 40, 0.2, 10)),
    CURRENT_CLAUDE,
    LATE_USER,
  ),
  claude(
    'claude-sonnet-5-5',
    from('claude:sonnet-5-5', { late_role: 'system' }),
    from('claude:models', { ...LARGE, ...SEES_AND_REASONS }),
    from('claude:pricing', prices(2, 10, 0.1, 2.5)),
  ),
  claude(
    'claude-haiku-5-5',
    from('claude:haiku-5-5', { ...LARGE, ...prices(0.1, 0.5, 0.01, 0.125) }),
    CURRENT_CLAUDE,
    LATE_USER,
  ),
  claude(
    'claude-fable-5-1',
    from('claude:fable-5-1', LARGE),
    from('claude:pricing', prices(10, 50, 0.25, 12.5)),
    CURRENT_CLAUDE,
    LATE_SYSTEM,
  ),
  claude(
    'claude-opus-5',
    from('claude:opus-5', { ...LARGE, ...prices(5, 25, 0.5, 6.25) }),
    CURRENT_CLAUDE,
    LATE_SYSTEM,
  ),
  claude(
    'claude-sonnet-5',
    from('claude:sonnet-5', { ...LARGE, ...prices(2, 10, 0.2, 2.5) }),
    CURRENT_CLAUDE,
    LATE_USER,
  ),
  claude(
    'claude-fable-5',
    from('claude:fable-5', LARGE),
    from('claude:pricing', prices(10, 50, 1, 12.5)),
    CURRENT_CLAUDE,
    LATE_SYSTEM,
  ),
  claude(
    'claude-opus-4-8',
    from('claude:opus-4-8', LARGE),
    from('claude:pricing', prices(5, 25, 0.5, 6.25)),
    CURRENT_CLAUDE,
    LATE_SYSTEM,
  ),
  claude('claude-opus-4-7', older(M, 128 * K, prices(5, 25, 0.5, 6.25)), LATE_USER),
  claude('claude-opus-4-6', older(M, 128 * K, prices(5, 25, 0.5, 6.25)), LATE_USER),
  claude(
    'claude-sonnet-4-6',
    from('claude:sonnet-4-6', LARGE),
    from(PI_AI, { ...SEES_AND_REASONS, ...prices(3, 15, 0.3, 3.75) }),
    LATE_USER,
  ),
  claude('claude-haiku-4-5', HAIKU_4_5, LATE_USER),
  claude('claude-haiku-4-5-20251001', HAIKU_4_5, LATE_USER),
]

/** Facts about every OpenAI model, in Responses and in Chat Completions. */
const OPENAI: readonly SourcedFacts[] = [
  from('openai:vision', { images: true, image_count: 1500, request_bytes: 512 * M }),
  from('openai:files', { files: true }),
  from('openai:caching', { requests_per_minute: 15 }),
  from('npm:openai@6.49.0', { late_role: 'developer', cache_key: true }),
]

/** A model page with the limits and the prices. */
function page(source: SourceName, price: ModelFacts): SourcedFacts {
  return from(source, { window_tokens: 1050 * K, output_tokens: 128 * K, ...price })
}

function piAi(price: ModelFacts): SourcedFacts {
  return from(PI_AI, { window_tokens: 400 * K, output_tokens: 128 * K, ...price })
}

const GPT_6_SOL = page('openai:gpt-6-sol', prices(2, 10, 0.2, 2.5))
const GPT_6_LUNA = page('openai:gpt-6-luna', prices(0.1, 0.5, 0.01, 0.125))
const GPT_5_6_SOL = page('openai:gpt-5.6-sol', prices(4, 20, 0.4, 5))
const GPT_5_6_TERRA = page('openai:gpt-5.6-terra', prices(2, 12, 0.2, 2.5))
const GPT_5_6_LUNA = page('openai:gpt-5.6-luna', prices(0.2, 1.2, 0.02, 0.25))
const GPT_5_2 = piAi(prices(1.75, 14, 0.175))

function responses(id: string, own: SourcedFacts, ...more: readonly SourcedFacts[]): ListedModel {
  const reasons = from(own.source, { reasoning: true })
  return { provider: 'openai', id, sources: [own, reasons, ...more, ...OPENAI] }
}

const RESPONSES: readonly ListedModel[] = [
  {
    ...responses('gpt-6-astra', page('openai:gpt-6-astra', prices(10, 50, 1, 12.5))),
    default: true,
  },
  responses('gpt-6.1-sol', page('openai:gpt-6.1-sol', prices(2, 10, 0.1, 2.5))),
  responses('gpt-6.1-terra', page('openai:gpt-6.1-terra', prices(1, 5, 0.05, 1.25))),
  responses('gpt-6-sol', GPT_6_SOL),
  responses('gpt-6-luna', GPT_6_LUNA),
  responses('gpt-5.6-sol', GPT_5_6_SOL),
  responses('gpt-5.6-terra', GPT_5_6_TERRA),
  responses('gpt-5.6-luna', GPT_5_6_LUNA),
  responses('gpt-5.5', from(PI_AI, prices(5, 30, 0.5)), page('openai:compare', {})),
  responses(
    'gpt-5.4',
    from(PI_AI, { output_tokens: 128 * K, ...prices(2.5, 15, 0.25) }),
    from('openai:gpt-5.4-pro', { window_tokens: 1050 * K }),
  ),
  responses('gpt-5.4-mini', piAi(prices(0.75, 4.5, 0.075))),
  responses('gpt-5.4-nano', piAi(prices(0.2, 1.25, 0.02))),
  responses('gpt-5.2', GPT_5_2),
]

function chat(id: string, own: SourcedFacts, reasoning: SourcedFacts): ListedModel {
  return { provider: 'openai-chat', id, sources: [own, reasoning, ...OPENAI] }
}

/** In Chat Completions newer models accept tools only with `reasoning_effort` none, and some never. */
const CHAT: readonly ListedModel[] = [
  { ...chat('gpt-5.2', GPT_5_2, from(PI_AI, { reasoning: true })), default: true },
  chat('gpt-6-sol', GPT_6_SOL, from('openai:gpt-6-sol', { reasoning: false })),
  chat('gpt-6-luna', GPT_6_LUNA, from('openai:gpt-6-luna', { reasoning: false })),
  chat('gpt-5.6-sol', GPT_5_6_SOL, from('openai:chat-tools', { reasoning: false })),
  chat('gpt-5.6-terra', GPT_5_6_TERRA, from('openai:chat-tools', { reasoning: false })),
  chat('gpt-5.6-luna', GPT_5_6_LUNA, from('openai:chat-tools', { reasoning: false })),
]

/** Every known model, the newest of a provider first. */
export const TABLE: readonly ListedModel[] = [...ANTHROPIC, ...RESPONSES, ...CHAT]
