import { fenced } from '../../stand-in-text.ts'
import type { RehearsalSegment } from '../schema.ts'

// What requests of this program hold where a dialect has no form for something, read back. Requests of others hold no such
// thing, and are taken as they are.

type Said = Extract<RehearsalSegment, { role: 'user' }>
export type SaidPart = Said['parts'][number]

/** What a text of a person is: their words, the text of a file, or a note of the harness. */
export function spoken(text: string): RehearsalSegment {
  const note = insideFence(text)
  if (note !== undefined) return { role: 'developer', parts: [{ type: 'text', text: note }] }
  const [heading = '', handle] = FILE.exec(text) ?? []
  if (handle === undefined) return person({ type: 'text', text })
  return person(filePart(Buffer.from(text.slice(heading.length)), 'text/plain', handle))
}

export function person(...parts: readonly SaidPart[]): RehearsalSegment {
  return { role: 'user', parts: [...parts] }
}

export function filePart(bytes: Buffer, media_type: string, name?: string | null): SaidPart {
  const data = bytes.toString('base64')
  const handle = name === undefined || name === null ? {} : { handle: handleIn(name) }
  return { type: 'blob', media_type, data, ...handle }
}

/** A file is named by its handle: `@pdf1`, or `pdf1.pdf` where names of files are wanted. */
function handleIn(name: string): string {
  const [, word] = FILE_NAME.exec(name) ?? []
  return word === undefined ? name : `@${word}`
}

const FILE_NAME = /^((?:img|pdf|txt|file)[1-9]\d*)\.\w+$/
const FILE = /^\[Content of (@\w+)\]\n/

const [FENCE_OPEN = '', FENCE_CLOSE = ''] = fenced('\0').split('\0')

function insideFence(text: string): string | undefined {
  if (!text.startsWith(FENCE_OPEN) || !text.endsWith(FENCE_CLOSE)) return undefined
  return text.slice(FENCE_OPEN.length, -FENCE_CLOSE.length)
}

export function toolSegment({
  name,
  description,
  parameters,
}: {
  readonly name: string
  readonly description?: string | null | undefined
  readonly parameters?: object | null | undefined
}): RehearsalSegment {
  return { role: 'tool', name, description: description ?? '', parameters: { ...parameters } }
}

/** What came of a call. An outcome other than `ok` stands before the output, or the vendor has a sign for it. */
export function resultOf(
  call: { readonly call_id: string; readonly name: string },
  text: string,
  isError = false,
): RehearsalSegment {
  const told = OUTCOMES.find((one) => text === opening(one) || text.startsWith(`${opening(one)}\n`))
  const outcome = told ?? (isError ? 'failed' : 'ok')
  const output = told === undefined ? text : text.slice(opening(told).length + 1)
  return { role: 'tool_result', ...call, outcome, output: output === '[no output]' ? '' : output }
}

const OUTCOMES = ['failed', 'denied', 'unknown'] as const

function opening(outcome: string): string {
  return `[outcome: ${outcome}]`
}

/**
 * Gives pictures and documents that came without a name the handles by which the words before them tell of them: lines such as
 * `[@img1: image, "a.png", image/png, 68 bytes]`, in the order of the files, or `[View of @img1, by user: …]` right before one.
 */
export function withHandles(segments: readonly RehearsalSegment[]): RehearsalSegment[] {
  let told: Descriptor[] = []
  return segments.map((segment) => {
    if (segment.role !== 'user') {
      told = []
      return segment
    }
    const parts = segment.parts.map((part) => {
      if (part.type === 'text')
        told = [...withoutAbsent(told, part.text), ...descriptorIn(part.text)]
      if (part.type !== 'blob' || part.handle !== undefined) return part
      const found = meant(told, part.media_type, Buffer.byteLength(part.data, 'base64'))
      told = told.filter((one) => one !== found)
      return found === undefined ? part : { ...part, handle: found.handle }
    })
    return { ...segment, parts }
  })
}

interface Descriptor {
  readonly handle: string
  /** Absent where a view is told of. */
  readonly media_type?: string
  readonly size?: number
}

/** A file may have been made smaller to fit, and then only the order tells. */
function meant(
  told: readonly Descriptor[],
  media_type: string,
  size: number,
): Descriptor | undefined {
  const last = told.at(-1)
  if (last !== undefined && last.media_type === undefined) return last
  const fitting = told.filter((one) => one.media_type === media_type)
  return fitting.find((one) => one.size === size) ?? fitting[0]
}

/** What stands in the place of bytes says whose they are. */
function withoutAbsent(told: readonly Descriptor[], text: string): Descriptor[] {
  const [, absent] = ABSENT.exec(text) ?? []
  return told.filter(({ handle }) => handle !== absent)
}

function descriptorIn(text: string): Descriptor[] {
  const [, viewed] = VIEW.exec(text) ?? []
  if (viewed !== undefined) return [{ handle: viewed }]
  const [, handle, media_type, size] = DESCRIPTOR.exec(text) ?? []
  if (handle === undefined || media_type === undefined) return []
  return [{ handle, media_type, size: Number(size) }]
}

const DESCRIPTOR = /^\[(@\w+): (?:image|pdf), .*?([a-z]+\/[\w.+-]+), (\d+) bytes/
const VIEW = /^\[View of (@\w+)\b.*: is shown\b/
const ABSENT = /^\[(@\w+) is not shown: /
