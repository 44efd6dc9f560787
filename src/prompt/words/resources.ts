import { quote, shorten } from '../../encoding/quote.ts'
import {
  contentLabel,
  DESCRIBED,
  NOT_SHOWN,
  PAYLOAD_MISSING,
  PAYLOAD_OF,
  REJECTED,
  VIEW_NOT_SHOWN,
  VIEW_OF,
  VIEW_SHOWN,
  VIEW_VISIBLE,
} from './labels.ts'

// The texts about Resources that a model reads. Every sentence of this folder is part of the Prompt Contract: see
// `version.ts`.

/** The part of a descriptor that a model sees. */
type DescriptorFacts = {
  readonly handle: string
  readonly title?: string | undefined
  readonly description?: string | undefined
} & (
  | {
      readonly kind: 'link'
      readonly name?: string | undefined
      readonly uri?: string | undefined
      readonly not_copied?: string | undefined
    }
  | {
      readonly kind: 'image' | 'pdf' | 'text' | 'file'
      readonly name: string
      readonly media_type: string
      readonly size_bytes: number
      readonly width?: number | undefined
      readonly height?: number | undefined
      readonly pages?: number | undefined
      readonly lines?: number | undefined
      readonly charset?: string | undefined
    }
)

/** At most `most` bytes. The handle is first, so that no cut can touch it. */
export function descriptor(resource: DescriptorFacts, most: number): string {
  const facts =
    resource.kind === 'link'
      ? linkFacts(resource)
      : [
          quote(resource.name),
          resource.media_type,
          count(resource.size_bytes, 'byte'),
          resource.width === undefined ? undefined : `${resource.width}x${resource.height} pixels`,
          resource.pages === undefined ? undefined : count(resource.pages, 'page'),
          resource.lines === undefined ? undefined : count(resource.lines, 'line'),
          resource.charset === undefined ? undefined : `from ${resource.charset}`,
          resource.kind === 'file' ? 'stored, not shown' : undefined,
        ]
  const title = resource.title === undefined ? undefined : `title ${quote(resource.title)}`
  const described = resource.description === undefined ? undefined : quote(resource.description)
  const all = [resource.kind, ...facts, title, described].filter((fact) => fact !== undefined)
  return shorten(`[${resource.handle}${DESCRIBED}${all.join(', ')}]`, most)
}

interface LinkFacts {
  readonly name?: string | undefined
  readonly uri?: string | undefined
  readonly not_copied?: string | undefined
}

/** The target of a link, and why its content is not here. Descriptors and checkpoints say the same. */
export function linkFacts({ name = '', uri, not_copied }: LinkFacts): readonly string[] {
  if (uri !== undefined) return [quote(uri), 'the target was not fetched']
  return [quote(name), `a local file that was not copied: ${notCopiedReason(not_copied ?? '')}`]
}

/** The reason alone. */
export function notCopiedReason(code: string): string {
  return (Object.hasOwn(NOT_COPIED, code) ? NOT_COPIED[code] : undefined) ?? 'it cannot be read'
}

const NOT_COPIED: Readonly<Record<string, string>> = {
  not_found: 'it does not exist',
  not_regular_file: 'it is a folder, or another entry without content',
  symlink: 'it is a symbolic link',
  hard_link: 'it has more than one hard link',
  outside_workspace: 'it is in a folder that cannot be read',
  too_large: 'it is too large',
  budget_exceeded: 'the attachments of the message are too large together',
  type_mismatch: 'its content does not match its extension',
  empty: 'it is empty',
  too_many_pixels: 'it has too many pixels',
  encrypted: 'it is encrypted',
  corrupt: 'it is damaged',
  changed_while_read: 'it changed while it was being read',
  invalid_name: 'its name is not valid',
  timeout: 'reading it took too long',
}

function count(number: number, one: string): string {
  return `${number} ${number === 1 ? one : `${one}s`}`
}

/** How many rejected attachments are named. */
const NAMED_REJECTIONS = 3

/** The warning about attachments that were not accepted. */
export function rejected(
  errors: readonly { readonly name: string; readonly reason: string }[],
): string {
  const more = errors.length - NAMED_REJECTIONS
  const many = errors.length === 1 ? '1 attachment was' : `${errors.length} attachments were`
  return [
    `${many} ${REJECTED}`,
    ...errors
      .slice(0, NAMED_REJECTIONS)
      .map(({ name, reason }) => `- ${sentence(name)}: ${sentence(reason)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join('\n')
}

interface Span {
  readonly from: number
  readonly to: number
}

interface ViewFacts {
  readonly handle: string
  readonly by: string
  readonly pages?: Span | undefined
  readonly lines?: Span | undefined
  readonly region?: object | undefined
  /** The size of the shown part. */
  readonly made?: Size | undefined
  readonly outcome:
    | 'projected'
    | 'missing'
    | 'damaged'
    | 'denied'
    | 'quarantined'
    | 'over_budget'
    | 'visible'
  readonly why?: string | undefined
  readonly same_as?: string | undefined
}

/** The line before a view, or instead of it. */
export function view(viewed: ViewFacts): string {
  const { handle, by, pages, lines, region, made, outcome, why, same_as } = viewed
  const part = [
    pages === undefined ? undefined : `pages ${pages.from} to ${pages.to}`,
    lines === undefined ? undefined : `lines ${lines.from} to ${lines.to}`,
    region === undefined ? undefined : 'a region',
    made?.width === undefined ? undefined : `${made.width}x${made.height} pixels`,
  ].filter((one) => one !== undefined)
  const what = [handle, ...part].join(', ')
  const [cannotBeShown, notShown] = VIEW_NOT_SHOWN
  const outcomeText = {
    projected: VIEW_SHOWN,
    missing: `${cannotBeShown}: ${LOSS.payload_missing()}`,
    damaged: `${cannotBeShown}: ${LOSS.payload_damaged()}`,
    denied: `${notShown}: ${why === 'holds_key' ? LOSS.holds_key() : 'that was not permitted'}`,
    quarantined: `${notShown}: ${LOSS.refused()}`,
    over_budget: `${notShown}: it does not fit next to the other files in this request`,
    visible: same_as === undefined ? VIEW_VISIBLE : `${VIEW_VISIBLE} as ${same_as}`,
  }[outcome]
  return `[${VIEW_OF}${what}, by ${by}: ${outcomeText}]`
}

type Figures = Readonly<Record<string, number>>

/** The sentence stays with the message it is in, and so it names the model of that Turn. */
const LOSS = {
  payload_missing: () => 'its payload is missing',
  payload_damaged: () => 'its payload is damaged',
  refused: () => "the model's provider refused it",
  too_large: () => 'with it, the request exceeds what the model of this Turn accepts',
  no_variant: () => 'it could not be converted to a form that the model of this Turn accepts',
  upload_denied: () => 'sending it to the model was not permitted',
  holds_key: () => 'it contains a key that Hawser uses',
  no_images: () => 'the model of this Turn does not accept images',
  no_files: () => 'the model of this Turn does not accept PDF files',
  over_side: ({ actual, limit }: Figures) =>
    `its longer side has ${actual} pixels; the model of this Turn accepts at most ${limit}`,
  over_base64: ({ actual, limit }: Figures) =>
    `it has ${actual} bytes in base64; the model of this Turn accepts at most ${limit}`,
  over_images: ({ limit }: Figures) =>
    `the model of this Turn accepts at most ${limit} images in a request`,
  over_request: ({ limit }: Figures) =>
    `with it, the request would exceed ${limit} bytes, the limit of the model of this Turn`,
  over_budget: ({ limit }: Figures) =>
    `the files in a request may have at most ${limit} bytes together, and it does not fit`,
} as const

/** Why bytes are not shown, with the figures that the reason names. */
interface Loss {
  readonly why: keyof typeof LOSS
  readonly figures?: Figures | undefined
}

/** The reason alone. */
export function lossReason({ why, figures = {} }: Loss): string {
  return LOSS[why](figures)
}

/** In place of bytes that were to be shown, or that may not go to this model. */
export function lost(handle = 'A stored file', loss: Loss): string {
  return `[${handle}${NOT_SHOWN}${lossReason(loss)}]`
}

interface Size {
  readonly width?: number | undefined
  readonly height?: number | undefined
}

/** For example `64x32 of 200x100 pixels`: the shown size and the original size. */
export function reducedTo(shown: Size, original: Size): string {
  const whole = original.width === undefined ? '' : ` of ${original.width}x${original.height}`
  return `${shown.width}x${shown.height}${whole} pixels`
}

/** Before an image that is shown in a smaller form. */
export function reduced(handle: string, shown: Size, original: Size): string {
  return `[${handle} is shown at ${reducedTo(shown, original)}]`
}

/** In place of bytes that cannot be fetched. */
export function payloadMissing(handle = 'a stored text'): string {
  return `[${PAYLOAD_OF}${handle}${PAYLOAD_MISSING}.]`
}

/** In place of a long field of an Event whose blob cannot be fetched. */
export function fieldMissing(field: string): string {
  return payloadMissing(`this ${field}`)
}

/** In place of bytes that a dialect has no form for. */
export function noForm(handle = 'A stored file', type: string): string {
  return `[${handle}${NOT_SHOWN}this model does not accept ${type}.]`
}

/** Text of a file, under its name. */
export function titledText(handle: string | undefined, text: string): string {
  return handle === undefined ? text : contentLabel(handle) + text
}

/** Safe on one line. What is escaped in it already, such as a name that was recorded, is not escaped twice. */
function sentence(text: string): string {
  return quote(text)
    .slice(1, -1)
    .replaceAll(/\\(["\\])/g, '$1')
}
