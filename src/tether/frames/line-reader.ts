import { isUtf8 } from 'node:buffer'
import { depthWithin, isJsonObject, parseJson } from '../../encoding/json.ts'
import { LineFramer } from '../../encoding/lines.ts'
import { LIMITS } from '../../model/limits.ts'

/** Why a line cannot be used. */
export type LineFault = 'too_long' | 'not_utf8' | 'not_json' | 'too_deep' | 'not_an_object'

export type ReadLine =
  | { readonly value: Readonly<Record<string, unknown>> }
  | { readonly fault: LineFault }

/** No frame nests deeper. */
const MOST_DEPTH = 16

/**
 * Splits a stream into lines of JSON objects, wherever its chunks end. A line over the limit is reported as soon as it is
 * detected, and never held in memory. The caller stops at the first fault: nothing of such a line is used.
 */
export class LineReader {
  readonly #framer: LineFramer

  constructor() {
    this.#framer = new LineFramer(LIMITS.frame_bytes)
  }

  *push(chunk: Buffer): Generator<ReadLine> {
    for (const framed of this.#framer.push(chunk))
      yield 'overlong' in framed ? { fault: 'too_long' } : readLine(framed.bytes)
  }
}

function readLine(bytes: Buffer): ReadLine {
  if (!isUtf8(bytes)) return { fault: 'not_utf8' }
  const value = parseJson(bytes.toString('utf8'))
  if (value === undefined) return { fault: 'not_json' }
  if (!isJsonObject(value)) return { fault: 'not_an_object' }
  return depthWithin(value, MOST_DEPTH) ? { value } : { fault: 'too_deep' }
}
