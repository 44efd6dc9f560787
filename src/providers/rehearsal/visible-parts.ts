import {
  ABSENT_FORMS,
  CONTENT_FORM,
  DESCRIPTOR_FORM,
  VIEW_SHOWN_FORM,
} from '../../prompt/words/read-back.ts'
import type { Subject } from './english/call.ts'
import type { Description } from '../../model/description.ts'
import type { RehearsalRequest, RehearsalSegment } from './schema.ts'

/** An image or document of a request, and its name. */
export interface VisiblePart {
  readonly part: Part
  /** The handle, if the part or a descriptor before it has one. */
  readonly handle?: string
  readonly media_type: string
  /** The index of the first of the adjacent user segments that it is in. */
  readonly from: number
}

/** What the parts of a request show. Parts that were not inspected are absent. */
export type Descriptions = ReadonlyMap<Part, Description>

/** Sentences about images and documents. */
export interface DescriptionText {
  /** One sentence for each inspected part. */
  readonly partSentences: readonly string[]
  /** Names of the parts that were not inspected. */
  readonly unseenNames: readonly string[]
  /** `partSentences`, and sentences about everything else. */
  readonly sentences: readonly string[]
}

type Part = Extract<RehearsalSegment, { role: 'user' }>['parts'][number]

/** Every image and document of a request, in order. Pure. */
export function visibleIn({ segments }: RehearsalRequest): VisiblePart[] {
  const runs: { from: number; parts: Part[] }[] = []
  for (const [at, segment] of segments.entries()) {
    if (segment.role !== 'user') continue
    if (segments[at - 1]?.role !== 'user') runs.push({ from: at, parts: [] })
    for (const part of segment.parts) runs.at(-1)?.parts.push(part)
  }
  return runs.flatMap(visibleInRun)
}

/** A Resource that the texts of a request mention. */
export interface Mention {
  readonly handle: string
  readonly descriptor?: string
  /** Why it is not shown, if a line gives a reason. */
  readonly why?: string
  /** The segment of the last of these lines. */
  readonly at: number
}

/** Every Resource that a request mentions, in the order of first mention. Pure. */
export function mentionsIn({ segments }: RehearsalRequest): Mention[] {
  const mentions = new Map<string, Mention>()
  for (const [at, segment] of segments.entries()) {
    if (segment.role !== 'user') continue
    const texts = segment.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    for (const line of texts.filter((text) => !isContent(text)).flatMap(linesOf)) {
      const [described] = handlesIn([line], [DESCRIPTOR_FORM])
      const [absent] = handlesIn([line], ABSENT_FORMS)
      const handle = described ?? absent
      if (handle === undefined) continue
      const more = described === undefined ? { why: line } : { descriptor: line }
      mentions.set(handle, { ...mentions.get(handle), handle, at, ...more })
    }
  }
  return [...mentions.values()]
}

function linesOf(text: string): string[] {
  return text.split('\n')
}

/** The parts to inspect, and the Resources that cannot be inspected. */
export interface Inspection {
  readonly parts: readonly VisiblePart[]
  /** Resources without bytes in the request, with their mentions. */
  readonly absent: readonly Omit<Mention, 'at'>[]
}

/**
 * Finds what a question is about: the handles that it names; the parts shown with it, or else those last shown before it; or
 * all parts, latest first.
 */
export function inspect(
  { which, handles }: Subject,
  shown: readonly VisiblePart[],
  { mentions, from }: { readonly mentions: readonly Mention[]; readonly from: number },
): Inspection {
  const before = shown.filter((one) => one.from <= from)
  if (which === 'all') return { parts: latestFirst(before), absent: notVisible(before, mentions) }
  if (which === 'latest') {
    const latest = before.at(-1)
    if (latest === undefined) return { parts: [], absent: notVisible(shown, mentions) }
    return { parts: shown.filter((one) => one.from === latest.from), absent: [] }
  }
  const last = (handle: string) => shown.findLast((one) => one.handle === handle)
  return {
    parts: handles.flatMap((handle) => last(handle) ?? []),
    absent: handles
      .filter((handle) => last(handle) === undefined)
      .map((handle) => mentions.find((one) => one.handle === handle) ?? { handle }),
  }
}

/** Adjacent parts keep their order. Of duplicates, the latest counts. */
function latestFirst(shown: readonly VisiblePart[]): VisiblePart[] {
  const places = [...new Set(shown.map(({ from }) => from))].toSorted((a, b) => b - a)
  const ordered = places.flatMap((place) => shown.filter(({ from }) => from === place))
  return ordered.filter(
    ({ handle }, index) =>
      handle === undefined || ordered.findIndex((one) => one.handle === handle) === index,
  )
}

/**
 * Resources that are mentioned and not visible. A part without a name may be any Resource of its kind, so that kind is
 * omitted.
 */
export function notVisible(shown: readonly VisiblePart[], mentions: readonly Mention[]): Mention[] {
  const names = new Set(shown.map(({ handle }) => handle))
  const nameless = shown.filter(({ handle }) => handle === undefined).map(prefixOf)
  return mentions.filter(
    ({ handle }) => !names.has(handle) && !nameless.some((prefix) => handle.startsWith(prefix)),
  )
}

/** The bytes of a part; empty if it has none. */
export function partBytes(part: Part): Buffer {
  if (part.type === 'blob') return Buffer.from(part.data, 'base64')
  if (part.type === 'other') return Buffer.alloc(0)
  return Buffer.from(part.text.replace(CONTENT_FORM, ''))
}

/** Whether a text is an attachment that was written as text, in a dialect without documents. */
export function isContent(text: string): boolean {
  return CONTENT_FORM.test(text)
}

/** The parts of adjacent segments. */
interface Run {
  readonly from: number
  readonly parts: readonly Part[]
}

/**
 * Some dialects have no field for the handle of an image. Descriptors precede the bytes in the same order, so if a kind has
 * as many descriptors as images, each image gets the matching handle.
 */
function visibleInRun({ from, parts }: Run): VisiblePart[] {
  const shown = parts.flatMap((part) => shownBy(part, from))
  if (shown.every(({ handle }) => handle !== undefined)) return shown
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const taken = new Set([...handlesIn(texts, ABSENT_FORMS), ...shown.map(({ handle }) => handle)])
  const free = handlesIn(texts, PRESENT).filter((handle) => !taken.has(handle))
  const names = new Map(PREFIXES.flatMap((prefix) => namedBy(prefix, shown, free)))
  return shown.map((one) => {
    const handle = one.handle ?? names.get(one)
    return handle === undefined ? one : { ...one, handle }
  })
}

/** Gives the parts of one kind that have no handle the unused handles, in order. */
function namedBy(
  prefix: string,
  shown: readonly VisiblePart[],
  free: readonly string[],
): [VisiblePart, string][] {
  const alike = shown.filter((one) => one.handle === undefined && prefixOf(one) === prefix)
  const handles = free.filter((handle) => handle.startsWith(prefix))
  if (handles.length !== alike.length) return []
  return alike.map((one, index) => [one, handles[index] ?? ''])
}

function shownBy(part: Part, from: number): VisiblePart[] {
  if (part.type === 'blob') {
    const handle = part.handle === undefined ? {} : { handle: part.handle }
    return [{ part, from, media_type: part.media_type, ...handle }]
  }
  const handle = part.type === 'text' ? CONTENT_FORM.exec(part.text)?.[1] : undefined
  return handle === undefined ? [] : [{ part, from, media_type: 'text/plain', handle }]
}

/** The descriptor, or the line before a Resource View. */
const PRESENT = [DESCRIPTOR_FORM, VIEW_SHOWN_FORM]

function handlesIn(texts: readonly string[], forms: readonly RegExp[]): string[] {
  return texts.flatMap((text) => forms.flatMap((form) => form.exec(text)?.[1] ?? []))
}

const PREFIXES = ['@img', '@pdf', '@txt'] as const

function prefixOf({ media_type }: VisiblePart): (typeof PREFIXES)[number] {
  if (media_type.startsWith('image/')) return '@img'
  return media_type === 'application/pdf' ? '@pdf' : '@txt'
}
