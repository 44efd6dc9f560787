import {
  CONTENT_FORM,
  insideFence,
  NOT_SHOWN_FORM,
  VIEW_SHOWN_FORM,
} from '../../src/prompt/words/read-back.ts'
import { NO_OUTPUT, outcomeLabel } from '../../src/prompt/words/results.ts'
import type { RehearsalSegment } from '../../src/providers/rehearsal/schema.ts'

// Reads back the texts that requests of this program use where a dialect has no format for something. Requests of other
// clients contain no such texts and are used unchanged.

type UserSegment = Extract<RehearsalSegment, { role: 'user' }>
export type UserPart = UserSegment['parts'][number]

/** A text in a user message: the person's words, the text of a file, or a note of the harness. */
export function userText(text: string): RehearsalSegment {
  const note = insideFence(text)
  if (note !== undefined) return { role: 'developer', parts: [{ type: 'text', text: note }] }
  const [label, handle] = CONTENT_FORM.exec(text) ?? []
  if (label === undefined) return userSegment({ type: 'text', text })
  return userSegment(filePart(Buffer.from(text.slice(label.length)), 'text/plain', handle))
}

export function userSegment(...parts: readonly UserPart[]): RehearsalSegment {
  return { role: 'user', parts: [...parts] }
}

export function filePart(bytes: Buffer, media_type: string, name?: string | null): UserPart {
  const data = bytes.toString('base64')
  const handle = name === undefined || name === null ? {} : { handle: handleIn(name) }
  return { type: 'blob', media_type, data, ...handle }
}

/** A file is named by its handle: `@pdf1`, or `pdf1.pdf` where the dialect wants file names. */
function handleIn(name: string): string {
  const [, word] = FILE_NAME.exec(name) ?? []
  return word === undefined ? name : `@${word}`
}

const FILE_NAME = /^((?:img|pdf|txt|file)[1-9]\d*)\.\w+$/

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

/** The result of a call. An outcome other than `ok` is a label before the output, or a flag of the dialect. */
export function resultOf(
  call: { readonly call_id: string; readonly name: string },
  text: string,
  isError = false,
): RehearsalSegment {
  const label = OUTCOMES.find(
    (one) => text === outcomeLabel(one) || text.startsWith(`${outcomeLabel(one)}\n`),
  )
  const outcome = label ?? (isError ? 'failed' : 'ok')
  const output = label === undefined ? text : text.slice(outcomeLabel(label).length + 1)
  return { role: 'tool_result', ...call, outcome, output: output === NO_OUTPUT ? '' : output }
}

const OUTCOMES = ['failed', 'denied', 'unknown'] as const

/**
 * Gives pictures and documents without a name the handles in the text before them: lines such as `[@img1: image, "a.png",
 * image/png, 68 bytes]`, in the order of the files, or `[View of @img1, by user: …]` right before one.
 */
export function withHandles(segments: readonly RehearsalSegment[]): RehearsalSegment[] {
  let described: Descriptor[] = []
  return segments.map((segment) => {
    if (segment.role !== 'user') {
      described = []
      return segment
    }
    const parts = segment.parts.map((part) => {
      if (part.type === 'text')
        described = [...withoutAbsent(described, part.text), ...descriptorIn(part.text)]
      if (part.type !== 'blob' || part.handle !== undefined) return part
      const found = matching(described, part.media_type, Buffer.byteLength(part.data, 'base64'))
      described = described.filter((one) => one !== found)
      return found === undefined ? part : { ...part, handle: found.handle }
    })
    return { ...segment, parts }
  })
}

interface Descriptor {
  readonly handle: string
  /** Absent for a view. */
  readonly media_type?: string
  readonly size?: number
}

/** A file may have been scaled down to fit; then only the order identifies it. */
function matching(
  described: readonly Descriptor[],
  media_type: string,
  size: number,
): Descriptor | undefined {
  const last = described.at(-1)
  if (last !== undefined && last.media_type === undefined) return last
  const fitting = described.filter((one) => one.media_type === media_type)
  return fitting.find((one) => one.size === size) ?? fitting[0]
}

/** A text in place of bytes names the handle whose bytes are absent. */
function withoutAbsent(described: readonly Descriptor[], text: string): Descriptor[] {
  const [, absent] = NOT_SHOWN_FORM.exec(text) ?? []
  return described.filter(({ handle }) => handle !== absent)
}

function descriptorIn(text: string): Descriptor[] {
  const [, viewed] = VIEW_SHOWN_FORM.exec(text) ?? []
  if (viewed !== undefined) return [{ handle: viewed }]
  const [, handle, media_type, size] = DESCRIPTOR.exec(text) ?? []
  if (handle === undefined || media_type === undefined) return []
  return [{ handle, media_type, size: Number(size) }]
}

const DESCRIPTOR = /^\[(@\w+): (?:image|pdf), .*?([a-z]+\/[\w.+-]+), (\d+) bytes/
