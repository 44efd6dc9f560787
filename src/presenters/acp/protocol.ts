import * as z from 'zod'

/** The longest message that is read: room for all attachments of a Turn in base64. */
export const MESSAGE_BYTES = 32 * 1024 * 1024

/** The version of ACP that is spoken. */
export const VERSION = 1

const Meta = z.record(z.string(), z.unknown()).nullish().catch(undefined)
const Offered = z.object({}).nullish().catch(undefined)

/** What a client does not say, it does not offer. */
export const InitializeParams = z.object({
  protocolVersion: z.int().min(0).max(65_535),
  clientCapabilities: z
    .object({
      fs: z
        .object({
          readTextFile: z.boolean().default(false).catch(false),
          writeTextFile: z.boolean().default(false).catch(false),
        })
        .nullish()
        .catch(undefined),
      session: z.object({ notices: Offered, compaction: Offered }).nullish().catch(undefined),
      _meta: Meta,
    })
    .nullish()
    .catch(undefined),
})

const Servers = z.array(z.looseObject({ name: z.string().catch('') })).nullish()
const Place = { cwd: z.string(), mcpServers: Servers, _meta: Meta }

export const NewParams = z.object(Place)
export const OpenParams = z.object({ sessionId: z.string(), ...Place })
/** In the draft of the protocol only. */
export const FORK = 'session/fork'
export const SessionParams = z.object({ sessionId: z.string() })
export const ListParams = z.object({ cwd: z.string().nullish(), cursor: z.string().nullish() })
export const ModeParams = z.object({ sessionId: z.string(), modeId: z.string() })
export const ConfigParams = z.object({
  sessionId: z.string(),
  configId: z.string(),
  value: z.union([z.string(), z.boolean()]),
})
export const AnyParams = z.looseObject({})

/** A block of any type: what it must have is checked where its type is known. */
const PromptBlock = z.looseObject({ type: z.string() })
export type PromptBlock = z.infer<typeof PromptBlock>

export const PromptParams = z.object({
  sessionId: z.string(),
  prompt: z.array(PromptBlock),
  _meta: Meta,
})
export type PromptParams = z.infer<typeof PromptParams>

/** What Hawser reads in `_meta` of a prompt. */
export const PromptMeta = z.object({
  hawser: z.object({ presenter_context: z.record(z.string(), z.string()).optional() }).optional(),
})

/** What Hawser reads in `_meta` of the client's capabilities: `answers: false` if there is no person to answer questions. */
const CapabilityMeta = z.object({
  hawser: z.object({ answers: z.boolean().default(true) }).optional(),
})

const Text = z.object({ text: z.string() })
const Label = z.string().nullish().catch(undefined)

/** The forms in which clients send an image: ACP's, and those of T3 Code. */
const Image = z.object({
  data: Label,
  dataUrl: Label,
  data_url: Label,
  image_url: z.union([z.string(), z.object({ url: z.string() })]).nullish(),
  name: Label,
  mimeType: Label,
  uri: Label,
  sizeBytes: z.number().nullish().catch(undefined),
})
const Audio = z.object({ data: z.string(), mimeType: z.string() })
const Link = z.object({
  uri: z.string(),
  name: Label,
  title: Label,
  description: Label,
  mimeType: Label,
  size: z.number().nullish().catch(undefined),
})
const Embedded = z.object({
  resource: z.union([
    z.object({ uri: z.string(), mimeType: Label, text: z.string() }),
    z.object({ uri: z.string(), mimeType: Label, blob: z.string() }),
  ]),
})

/** Every type of block that a prompt may have. */
export const BLOCKS = {
  text: Text,
  image: Image,
  audio: Audio,
  resource_link: Link,
  resource: Embedded,
} as const
export type ImageBlock = z.infer<typeof Image>
export type AudioBlock = z.infer<typeof Audio>
export type LinkBlock = z.infer<typeof Link>
export type EmbeddedBlock = z.infer<typeof Embedded>

/** What a client offers. */
export interface ClientOffers {
  /** It can be asked for permission. */
  readonly answers: boolean
  readonly notices: boolean
  readonly compaction: boolean
  readonly readsFiles: boolean
  readonly writesFiles: boolean
}

/** Before `initialize`. */
export const NO_OFFERS: ClientOffers = {
  answers: true,
  notices: false,
  compaction: false,
  readsFiles: false,
  writesFiles: false,
}

export function offersOf({
  clientCapabilities: capabilities,
}: z.infer<typeof InitializeParams>): ClientOffers {
  const { fs, session, _meta } = capabilities ?? {}
  return {
    answers: CapabilityMeta.safeParse(_meta).data?.hawser?.answers ?? true,
    notices: isOffered(session?.notices),
    compaction: isOffered(session?.compaction),
    readsFiles: fs?.readTextFile ?? false,
    writesFiles: fs?.writeTextFile ?? false,
  }
}

function isOffered(value: object | null | undefined): boolean {
  return value !== undefined && value !== null
}
