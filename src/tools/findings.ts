import * as z from 'zod'
import { isBase64 } from '../encoding/base64.ts'
import { parseJson } from '../encoding/json.ts'
import { LineFramer } from '../encoding/lines.ts'
import type { Redactor } from '../encoding/redaction.ts'
import { clipText } from './shown-lines.ts'

/** The findings in one file. */
export interface Section {
  /** Relative to the workspace. */
  readonly path: string
  /** `12:a match`, `13-a context line`, `--` where lines are omitted. */
  readonly lines: string[]
  matches: number
}

/**
 * The findings of ripgrep, parsed from its JSON stream. Holds only as many lines as can be shown, and counts the rest.
 */
export class Findings {
  readonly sections: Section[] = []
  /** Output of ripgrep that is not JSON. */
  complaint = ''
  /** There is more than the sections contain. */
  cut = false
  readonly #isShown: (path: string) => boolean
  readonly #redactor: Redactor
  readonly #framer = new LineFramer(MESSAGE_BYTES)
  #room: number
  #last = 0

  /** `isShown` tells whether to show a path; `limit` is the maximum size of all lines together. */
  constructor(isShown: (path: string) => boolean, limit: number, redactor: Redactor) {
    this.#isShown = isShown
    this.#redactor = redactor
    this.#room = limit
  }

  push(chunk: Buffer): void {
    for (const framed of this.#framer.push(chunk)) {
      // The file of an overlong line is unknown; only that something is missing.
      if ('overlong' in framed) this.cut = true
      else this.#take(framed.bytes.toString('utf8'))
    }
  }

  #take(text: string): void {
    const message = RipgrepLine.safeParse(parseJson(text))
    if (!message.success) {
      this.complaint = clipText(`${this.complaint}${this.#redactor.text(text)}\n`, COMPLAINT_BYTES)
      return
    }
    const { type, data } = message.data
    if (type !== 'match' && type !== 'context') return
    const path = textOf(data.path).replace(/^(\.\/)+/, '')
    if (!this.#isShown(path)) return
    const section = this.#sectionOf(path)
    if (type === 'match') section.matches += 1
    if (this.#last !== 0 && data.line_number > this.#last + 1 && type === 'context') {
      this.#add(section, '--')
    }
    this.#last = data.line_number
    this.#add(section, this.#shownLine(type, data))
  }

  #sectionOf(path: string): Section {
    const last = this.sections.at(-1)
    if (last?.path === path) return last
    const section = { path, lines: [], matches: 0 }
    this.sections.push(section)
    this.#last = 0
    return section
  }

  /** Redact before shortening. */
  #shownLine(type: 'match' | 'context', { lines, line_number }: z.infer<typeof Line>): string {
    const line = this.#redactor.text(textOf(lines).replace(/\r?\n$/, ''))
    const shown = clipText(line, LINE_BYTES)
    return `${line_number}${type === 'match' ? ':' : '-'}${shown}${shown === line ? '' : '…'}`
  }

  #add({ lines }: Section, line: string): void {
    this.#room -= Buffer.byteLength(line) + 1
    if (this.#room < 0) this.cut = true
    else lines.push(line)
  }
}

const MESSAGE_BYTES = 1024 * 1024
const COMPLAINT_BYTES = 2_000
const LINE_BYTES = 500

/** Text, or base64 if it is not UTF-8. */
const Words = z.union([
  z.object({ text: z.string() }),
  z.object({ bytes: z.string().refine(isBase64) }),
])

const Line = z.object({ path: Words, lines: Words, line_number: z.int() })

const RipgrepLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('match'), data: Line }),
  z.object({ type: z.literal('context'), data: Line }),
  z.object({ type: z.enum(['begin', 'end', 'summary']), data: z.unknown() }),
])

function textOf(words: z.infer<typeof Words>): string {
  return 'text' in words ? words.text : Buffer.from(words.bytes, 'base64').toString('utf8')
}
