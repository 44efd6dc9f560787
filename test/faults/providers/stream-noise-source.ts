import { random, type Random } from '../../support/host/random.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import type { VendorDialect } from '../../support/providers/vendor-schemas.ts'
import { cutAnswer } from './stream-cut-answer.ts'

/** An answer to be corrupted. */
export interface Source {
  readonly dialect: VendorDialect
  readonly chance: Random
  readonly bytes: Buffer
  /** Its events, each with its blank line. */
  readonly frames: readonly string[]
}

export function sourceOf(dialect: VendorDialect, seed: number): Source {
  const { bytes } = cutAnswer(dialect)
  return { dialect, chance: random(seed), bytes, frames: framesOf(bytes) }
}

export function joined(frames: readonly string[]): Buffer {
  return Buffer.from(frames.join(''))
}

/** Replaces a value somewhere in an event of the answer with another one, given as JSON text. */
export function withValue({ chance, frames }: Source, json: string): Buffer {
  const target = chance.below(frames.length)
  return joined(
    frames.map((frame, at) => {
      const data = dataOf(frame)
      if (at !== target || data === undefined) return frame
      const places = placesIn(data)
      const place = places.length === 0 ? undefined : chance.pick(places)
      const marked = JSON.stringify(place === undefined ? MARK : exchanged(data, place, MARK))
      return frame.replace(/^data: .*$/m, () => `data: ${marked.replace(`"${MARK}"`, () => json)}`)
    }),
  )
}

/** Every number of every event, as text. */
export function withNumbersAsText({ frames }: Source): Buffer {
  const asText = (_key: string, value: unknown) =>
    typeof value === 'number' ? String(value) : value
  return joined(
    frames.map((frame) => {
      const data = dataOf(frame)
      if (data === undefined) return frame
      return frame.replace(/^data: .*$/m, () => `data: ${JSON.stringify(data, asText)}`)
    }),
  )
}

export interface LongAnswer {
  readonly dialect: VendorDialect
  /** Bytes of text in each event. */
  readonly pieceBytes: number
  readonly pieces: number
  /** Whether the answer has its end. */
  readonly ends?: boolean
}

/** A text answer with any number of events, generated as it is read. */
export async function* longAnswer(of: LongAnswer): AsyncGenerator<string, void, void> {
  const frames = framesOf(sseOf(of.dialect, { text: 'abc' }))
  const first = frames.findIndex((frame) => FIRST_PIECE.test(frame))
  const delta = frames[first] ?? ''
  const piece = 'wort '.repeat(Math.ceil(of.pieceBytes / 5)).slice(0, of.pieceBytes)
  let number = first
  const numbered = (frame: string) =>
    frame.replace(/"sequence_number":\d+/, () => `"sequence_number":${number++}`)
  yield frames.slice(0, first).join('')
  let batch = ''
  for (let count = 0; count < of.pieces; count++) {
    batch += numbered(delta.replace(FIRST_PIECE, (_, name: string) => `"${name}":"${piece}"`))
    if (batch.length < BATCH) continue
    yield batch
    batch = ''
  }
  yield batch
  if (of.ends === true) yield frames.slice(first).map(numbered).join('')
}

const FIRST_PIECE = /"(text|delta|content)":"a"/
const BATCH = 64 * 1024
const MARK = '@@@'

type Path = readonly (string | number)[]

function framesOf(bytes: Buffer): string[] {
  return bytes.toString('utf8').split(/(?<=\n\n)/)
}

function dataOf(frame: string): unknown {
  const data = /^data: (.*)$/m.exec(frame)?.[1] ?? '[DONE]'
  return data === '[DONE]' ? undefined : JSON.parse(data)
}

function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const inside = [...path, key]
    return [inside, ...placesIn(inner, inside)]
  })
}

function exchanged(value: unknown, [key, ...rest]: Path, other: unknown): unknown {
  if (key === undefined) return other
  if (typeof value !== 'object' || value === null) return value
  const copy: object = Array.isArray(value) ? [...value] : { ...value }
  Reflect.set(copy, key, exchanged(Reflect.get(value, key), rest, other))
  return copy
}
