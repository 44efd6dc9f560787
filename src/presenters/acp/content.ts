import { extname, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as z from 'zod'
import { isBase64 } from '../../encoding/base64.ts'
import { usualExtension } from '../../encoding/magic-bytes.ts'
import { embedded } from '../../prompt/words/notes.ts'
import { quote } from '../../encoding/quote.ts'
import type { AttachmentInput, MentionInput } from '../../model/attachment.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { ATTACHMENT_EXTENSIONS } from '../../model/limits.ts'
import {
  BLOCKS,
  PromptMeta,
  type AudioBlock,
  type PromptBlock,
  type EmbeddedBlock,
  type ImageBlock,
  type LinkBlock,
  type PromptParams,
} from './protocol.ts'

/** A prompt as Hawser takes it. */
export interface PromptInput {
  readonly text: string
  readonly attachments: readonly AttachmentInput[]
  /** Linked files of the workspace. Each is an attachment too. */
  readonly mentions: readonly MentionInput[]
  /** Never an attachment, and no attachment ever becomes part of it. */
  readonly presenterContext?: Readonly<Record<string, string>> | undefined
}

/**
 * Translates the blocks of a prompt. A block that contradicts itself is an error of the client. `roots` are the spellings of
 * the path of the workspace. Pure.
 */
export function readPrompt(
  { prompt, _meta }: Pick<PromptParams, 'prompt' | '_meta'>,
  roots: readonly string[],
): Result<PromptInput> {
  const meta = PromptMeta.safeParse(_meta ?? {})
  if (!meta.success) {
    return failed('invalid_args', 'presenter_context must consist of names with texts.')
  }
  let typed = ''
  const parts: string[] = []
  const attachments: AttachmentInput[] = []
  const mentions: MentionInput[] = []
  for (const [index, block] of prompt.entries()) {
    const one = readBlock(block, index, roots)
    if (!one.ok) return one
    const { text = '', part, attachment, mention } = one.value
    typed += text
    if (part !== undefined) parts.push(part)
    if (attachment !== undefined) attachments.push(attachment)
    if (mention !== undefined) mentions.push(mention)
  }
  const text = [typed, ...parts].filter((words) => words !== '').join('\n\n')
  return ok({ text, attachments, mentions, presenterContext: meta.data.hawser?.presenter_context })
}

interface ReadBlock {
  readonly text?: string
  /** Text that follows what the person typed. */
  readonly part?: string
  readonly attachment?: AttachmentInput
  readonly mention?: MentionInput
}

function readBlock(block: PromptBlock, index: number, roots: readonly string[]): Result<ReadBlock> {
  switch (block.type) {
    case 'text':
      return read(BLOCKS.text, block, index, ({ text }) => ok({ text }))
    case 'image':
      return read(BLOCKS.image, block, index, imageOf)
    case 'audio':
      return read(BLOCKS.audio, block, index, audioOf)
    case 'resource_link':
      return read(BLOCKS.resource_link, block, index, (link) => ok(linkOf(link, roots)))
    case 'resource':
      return read(BLOCKS.resource, block, index, ({ resource }) => embeddedOf(resource, roots))
    default: {
      const known = Object.keys(BLOCKS)
      const message = `Block ${index + 1} of the prompt has the unknown type ${quote(block.type)}.`
      return failed('invalid_args', message, { known })
    }
  }
}

function read<T>(
  schema: z.ZodType<T>,
  block: PromptBlock,
  index: number,
  translated: (value: T, index: number) => Result<ReadBlock>,
): Result<ReadBlock> {
  const parsed = schema.safeParse(block)
  if (parsed.success) return translated(parsed.data, index)
  const message = `Block ${index + 1} of the prompt lacks what a block of type ${block.type} needs.`
  return failed('invalid_args', message, { fields: parsed.error.issues.map(({ path }) => path) })
}

/** The declared type must be that of the bytes. */
function imageOf(block: ImageBlock, index: number): Result<ReadBlock> {
  const { base64, mimeType } = payloadOf(block)
  if (base64 === undefined || mimeType === undefined) {
    return failed('invalid_args', `The image in block ${index + 1} has no data or no type.`)
  }
  const extension = mimeType.startsWith('image/') ? extensionOf(mimeType) : undefined
  if (extension === undefined) {
    const message = `Images of type ${quote(mimeType)} are not supported. Send PNG, JPEG, GIF or WebP.`
    return failed('unsupported_type', message)
  }
  const bytes = decodeBytes(base64, index)
  if (!bytes.ok) return bytes
  const found = usualExtension(bytes.value)
  if (found !== extension) {
    const message = `The image in block ${index + 1} is declared as ${mimeType}, but its bytes are not.`
    return failed('type_mismatch', message, { declared: mimeType, found })
  }
  const name = withExtension(block.name ?? nameIn(block.uri ?? '') ?? 'image', extension)
  return ok({ attachment: { from: 'bytes', name, bytes: bytes.value } })
}

interface Payload {
  readonly base64?: string | undefined
  readonly mimeType?: string | undefined
}

/** ACP has base64 and a type; T3 Code sends a data URL under one of three names. */
function payloadOf({ data, dataUrl, data_url, image_url, mimeType }: ImageBlock): Payload {
  const url = dataUrl ?? data_url ?? (typeof image_url === 'string' ? image_url : image_url?.url)
  if (url === undefined || url === null) {
    return { base64: data ?? undefined, mimeType: usualType(mimeType) }
  }
  const comma = url.indexOf(',')
  const [, inUrl] = /^data:([^;,]+);base64$/i.exec(url.slice(0, Math.max(0, comma))) ?? []
  if (inUrl === undefined) return {}
  const declared = usualType(mimeType) ?? usualType(inUrl)
  // Two declarations that differ cannot both be true.
  return { base64: url.slice(comma + 1), mimeType: declared === usualType(inUrl) ? declared : '' }
}

function usualType(mimeType: string | null | undefined): string | undefined {
  const type = mimeType?.trim().toLowerCase()
  return type === 'image/jpg' ? 'image/jpeg' : type
}

function audioOf({ data, mimeType }: AudioBlock, index: number): Result<ReadBlock> {
  const bytes = decodeBytes(data, index)
  if (!bytes.ok) return bytes
  const [, subtype = 'audio'] = /^audio\/(?:x-)?([a-z0-9]{1,16})/i.exec(mimeType) ?? []
  const description = 'a recording, which is not played to the model'
  const name = `audio.${subtype.toLowerCase()}`
  return ok({ attachment: { from: 'bytes', name, bytes: bytes.value, description } })
}

function linkOf(link: LinkBlock, roots: readonly string[]): ReadBlock {
  const { uri, name, title, description, mimeType, size } = link
  const attachment: AttachmentInput = {
    from: 'link',
    uri,
    ...(isThere(name) ? { name } : {}),
    ...(isThere(title) ? { title } : {}),
    ...(isThere(description) ? { description } : {}),
    ...(isThere(mimeType) ? { declared_media_type: mimeType } : {}),
    ...(isThere(size) ? { declared_size_bytes: size } : {}),
  }
  const path = workspacePath(uri, roots)
  if (path === undefined) return { attachment }
  // Files of attachment types are shown anyway.
  const attachedAs = extname(path).toLowerCase() in ATTACHMENT_EXTENSIONS ? 'unsaved' : 'text'
  return { attachment, mention: { path, attachedAs } }
}

function embeddedOf(
  resource: EmbeddedBlock['resource'],
  roots: readonly string[],
): Result<ReadBlock> {
  const name = workspacePath(resource.uri, roots) ?? nameIn(resource.uri) ?? 'resource'
  if ('text' in resource) return ok({ part: embedded(name, resource.text) })
  const bytes = decodeBytes(resource.blob, 0)
  if (!bytes.ok) return bytes
  const extension = extensionOf(usualType(resource.mimeType) ?? '')
  const file = nameIn(resource.uri) ?? 'resource'
  const attached = extension === undefined ? file : withExtension(file, extension)
  return ok({ attachment: { from: 'bytes', name: attached, bytes: bytes.value } })
}

/** The path of a linked file, relative to the workspace; `undefined` for any other link. The model can read it by this path. */
function workspacePath(uri: string, roots: readonly string[]): string | undefined {
  if (!/^file:\/\//i.test(uri) || !URL.canParse(uri)) return undefined
  try {
    const file = fileURLToPath(uri)
    const paths = roots.map((root) => relative(root, file))
    return paths.find((path) => path !== '' && path !== '..' && !path.startsWith(`..${sep}`))
  } catch {
    return undefined
  }
}

function decodeBytes(base64: string, index: number): Result<Buffer> {
  const message = `The data in block ${index + 1} is not base64.`
  return isBase64(base64) ? ok(Buffer.from(base64, 'base64')) : failed('invalid_args', message)
}

/** The last part of a path or link, without query and fragment. */
function nameIn(uri: string): string | undefined {
  const last =
    uri
      .replace(/[?#][^]*/, '')
      .replace(/\/+$/, '')
      .split('/')
      .at(-1) ?? ''
  return last === '' || /^[a-z][a-z0-9+.-]*:/i.test(last) ? undefined : unescapeText(last)
}

function unescapeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isThere<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}

/** The usual extension of an attachment type, without a dot; `undefined` for any other type. */
function extensionOf(mediaType: string): string | undefined {
  const found = Object.entries(ATTACHMENT_EXTENSIONS).find(
    ([, one]) => one.media_type === mediaType,
  )
  return found?.[0].slice(1)
}

/** The type of an extension, without a dot. */
function mediaTypeOf(extension: string): string | undefined {
  const name = `.${extension.toLowerCase()}`
  return Object.entries(ATTACHMENT_EXTENSIONS).find(([one]) => one === name)?.[1].media_type
}

/** The name with this extension, unless it has one for the same type. */
function withExtension(name: string, extension: string): string {
  const [, own = ''] = /\.([^./\\]+)$/.exec(name) ?? []
  return mediaTypeOf(own) === mediaTypeOf(extension) ? name : `${name}.${extension}`
}
