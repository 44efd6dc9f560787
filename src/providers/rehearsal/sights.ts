import {
  ABSENT_FORMS,
  CONTENT_FORM,
  DESCRIPTOR_FORM,
  VIEW_SHOWN_FORM,
} from '../../encoding/words/read-back.ts'
import type { Subject } from './english/call.ts'
import type { Sight } from '../../model/sight.ts'
import type { RehearsalRequest, RehearsalSegment } from './schema.ts'

/** A picture or document of a request, and its name. */
export interface VisiblePart {
  readonly part: Part
  /** A handle, where one is known: by the part itself, or by the descriptor that stands before it. */
  readonly handle?: string
  readonly media_type: string
  /** Where the segments of people begin among which its own stands. */
  readonly from: number
}

/** What the parts of a request show. A part that was not looked at is not in it. */
export type Sights = ReadonlyMap<Part, Sight>

/** Sentences about pictures and documents. */
export interface SightText {
  /** One for each that was looked at. */
  readonly seen: readonly string[]
  /** Names of those that were not. */
  readonly unseen: readonly string[]
  /** `seen`, and what there is to say about everything else. */
  readonly sentences: readonly string[]
}

type Part = Extract<RehearsalSegment, { role: 'user' }>['parts'][number]

/** Every picture and document of a request, in order. Pure. */
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
  /** Why it is not shown, where a line says so. */
  readonly why?: string
  /** The segment of the last of these lines. */
  readonly at: number
}

/** Every Resource that a request mentions, in the order of first mention. Pure. */
export function mentionsIn({ segments }: RehearsalRequest): Mention[] {
  const told = new Map<string, Mention>()
  for (const [at, segment] of segments.entries()) {
    if (segment.role !== 'user') continue
    const texts = segment.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    for (const line of texts.filter((text) => !isContent(text)).flatMap(linesOf)) {
      const [described] = handlesIn([line], [DESCRIPTOR_FORM])
      const [absent] = handlesIn([line], ABSENT_FORMS)
      const handle = described ?? absent
      if (handle === undefined) continue
      const more = described === undefined ? { why: line } : { descriptor: line }
      told.set(handle, { ...told.get(handle), handle, at, ...more })
    }
  }
  return [...told.values()]
}

function linesOf(text: string): string[] {
  return text.split('\n')
}

/** What is looked at, and what cannot be. */
export interface Inspection {
  readonly found: readonly VisiblePart[]
  /** What is not in the request, with its mentions. */
  readonly absent: readonly Omit<Mention, 'at'>[]
}

/**
 * What a question is about: the handles it names; or what was shown with it, or what was last shown before it; or everything,
 * the latest first.
 */
export function inspect(
  { which, handles }: Subject,
  shown: readonly VisiblePart[],
  { told, from }: { readonly told: readonly Mention[]; readonly from: number },
): Inspection {
  const before = shown.filter((one) => one.from <= from)
  if (which === 'all') return { found: latestFirst(before), absent: notVisible(before, told) }
  if (which === 'latest') {
    const latest = before.at(-1)
    if (latest === undefined) return { found: [], absent: notVisible(shown, told) }
    return { found: shown.filter((one) => one.from === latest.from), absent: [] }
  }
  const last = (handle: string) => shown.findLast((one) => one.handle === handle)
  return {
    found: handles.flatMap((handle) => last(handle) ?? []),
    absent: handles
      .filter((handle) => last(handle) === undefined)
      .map((handle) => told.find((one) => one.handle === handle) ?? { handle }),
  }
}

/** What stands side by side keeps its order. What is there twice counts where it was last shown. */
function latestFirst(shown: readonly VisiblePart[]): VisiblePart[] {
  const places = [...new Set(shown.map(({ from }) => from))].toSorted((a, b) => b - a)
  const ordered = places.flatMap((place) => shown.filter(({ from }) => from === place))
  return ordered.filter(
    ({ handle }, index) =>
      handle === undefined || ordered.findIndex((one) => one.handle === handle) === index,
  )
}

/** What is mentioned and not visible. A nameless part may be any of its kind, so that kind is left out. */
export function notVisible(shown: readonly VisiblePart[], told: readonly Mention[]): Mention[] {
  const names = new Set(shown.map(({ handle }) => handle))
  const nameless = shown.filter(({ handle }) => handle === undefined).map(prefixOf)
  return told.filter(
    ({ handle }) => !names.has(handle) && !nameless.some((prefix) => handle.startsWith(prefix)),
  )
}

/** The bytes of a part; none where it has none. */
export function bytesOf(part: Part): Buffer {
  if (part.type === 'blob') return Buffer.from(part.data, 'base64')
  if (part.type === 'other') return Buffer.alloc(0)
  return Buffer.from(part.text.replace(CONTENT_FORM, ''))
}

/** Whether a part is an attachment that a dialect without a place for documents wrote as text. */
export function isContent(text: string): boolean {
  return CONTENT_FORM.test(text)
}

/** The parts of segments that stand side by side. */
interface Run {
  readonly from: number
  readonly parts: readonly Part[]
}

/**
 * Some dialects have no place for the handle of an image. Descriptors stand before the bytes and in their order, so where there
 * are as many of a kind as there are images, each has the name of its own.
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

/** Those without a handle whose kind has this prefix, each with its own of the free ones. */
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
