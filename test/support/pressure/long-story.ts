import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failed, ok } from '../../../src/model/errors.ts'
import type { AnswerItem, Provider, ProviderEvent } from '../../../src/providers/provider.ts'
import { encode, frame } from '../../../src/providers/rehearsal/encode.ts'
import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import type { Session } from '../../../src/session/session.ts'
import { withSkills } from '../session/hand-skills.ts'
import { withChanges, type Changes } from '../session/harness-parts.ts'
import { say } from './talk.ts'
import { TINY_IMAGES } from '../resources/tiny-images.ts'

/** What the model of a long story received and counted. */
export interface StoryFigures {
  calls: number
  refused: number
  input: number
  cached: number
  /** Bytes of each request since this was last emptied. */
  sizes: number[]
}

/** An answer: calls of tools, or text. */
export type StoryAnswer = readonly { readonly name: string; readonly args: object }[] | string

/** A model that plays the answers of a script, counts four bytes as a token, and refuses what exceeds its window. */
export class StoryModel implements Provider {
  readonly dialect = 'rehearsal'
  readonly encode = encode
  readonly buildBody = frame
  readonly figures: StoryFigures = { calls: 0, refused: 0, input: 0, cached: 0, sizes: [] }
  readonly window: number
  #script: StoryAnswer[] = []
  #last = Buffer.alloc(0)
  #length = 0

  constructor(window: number) {
    this.window = window
  }

  /** Memory that this model uses itself. */
  get keptBytes(): number {
    return this.#last.length
  }

  /** The answers of the next Turn. */
  play(...script: readonly StoryAnswer[]): void {
    this.#script = [...script]
  }

  readonly stream = (body: Buffer): AsyncIterable<ProviderEvent> => this.#answer(body)

  async *#answer(body: Buffer): AsyncGenerator<ProviderEvent, void, void> {
    const tokens = Math.ceil(body.length / 4)
    this.figures.sizes.push(body.length)
    if (tokens > this.window) {
      this.figures.refused += 1
      const text = `prompt is too long: ${tokens} tokens > ${this.window}`
      yield { type: 'error', error: failed('context_overflow', text).error }
      return
    }
    const cached_read = Math.min(tokens, Math.floor(this.#shared(body) / 4))
    this.figures.calls += 1
    this.figures.input += tokens
    this.figures.cached += cached_read
    const answer = this.#script.shift() ?? 'Done.'
    for (const item of this.#items(answer)) yield { type: 'item', item }
    const usage = { input: tokens, cached_read, cache_write: 0, output: 100, reasoning: 0 }
    const stop_reason = typeof answer === 'string' ? 'end_turn' : 'tool_use'
    yield { type: 'done', stop_reason, usage }
  }

  #items(answer: StoryAnswer): AnswerItem[] {
    if (typeof answer === 'string') return [{ kind: 'text', text: answer }]
    return answer.map(({ name, args }, at) => {
      const call_id = `call_${this.figures.calls}_${at}`
      return { kind: 'tool_call', call_id, name, arguments: JSON.stringify(args) }
    })
  }

  /** The number of bytes that a request shares with the last one. Keeps a copy, because its memory may be reused. */
  #shared(body: Buffer): number {
    let low = 0
    let high = Math.min(this.#length, body.length)
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#last.compare(body, low, middle, low, middle) === 0) low = middle
      else high = middle - 1
    }
    if (this.#last.length < body.length) this.#last = Buffer.alloc(body.length * 2)
    this.#length = body.copy(this.#last)
    return low
  }
}

/** Parts whose provider is this model, with one Skill. */
export function storyParts(model: StoryModel, changes: Changes = {}): Changes {
  const skills = new Map([['tides', { body: 'Look at the table of tides first. '.repeat(60) }]])
  const own: Changes = {
    model: {
      providerOf: async () => ok(model),
      dialectOf: async () => ok(model),
      dialectNameOf: () => 'rehearsal',
      factsOf: () => ({ window_tokens: model.window, images: true }),
      limits: { provider_calls: 1_000, retries: 0 },
    },
  }
  return withChanges(withChanges(withSkills(skills), own), changes)
}

const FILES = 7
const PASTED = 'pasted line of a log\n'
const FILE_BYTES = 6_000

/** Whether the next Turn of a long story pastes a large text, so that the window is as full as it becomes. */
export function precedesPaste(n: number): boolean {
  return pastes(n + 1)
}

function pastes(n: number): boolean {
  return n % 30 === 20
}

/** The files that the Turns of a long story read. */
export async function writeStoryFiles(workspace: string): Promise<void> {
  for (let n = 0; n < FILES; n += 1) {
    const line = `log ${n}: the tide turned, and the watch was changed\n`
    await writeFile(
      join(workspace, `log-${n}.txt`),
      line.repeat(Math.ceil(FILE_BYTES / line.length)),
    )
  }
  await writeFile(join(workspace, 'harbour.png'), TINY_IMAGES.png)
}

/**
 * Turn number `n` of a long story: two rounds of calls and an answer; now and then an image, a Skill, or a paste of a quarter
 * of the window. Returns how it ended.
 */
export async function storyTurn(
  session: Session,
  model: StoryModel,
  n: number,
  workspace: string,
): Promise<string> {
  model.play(
    [{ name: 'read', args: { path: `log-${n % FILES}.txt` } }],
    [{ name: 'grep', args: { pattern: 'watch', path: `log-${(n + 3) % FILES}.txt` } }],
    `In Turn ${n} the watch was changed at ${n % 24} o'clock. ${'It was quiet. '.repeat(20)}`,
  )
  const paste = pastes(n) ? `\n${PASTED.repeat(model.window / PASTED.length)}` : ''
  const path = join(workspace, 'harbour.png')
  const options: AdmitOptions = {
    ...(n % 25 === 0 ? { attachments: [{ from: 'path', path }] } : {}),
    ...(n % 40 === 0 ? { skills: [{ name: 'tides' }] } : {}),
  }
  const text = `Turn ${n}: when was the watch changed? ${'Please look it up. '.repeat(10)}${paste}`
  return say(session, text, options)
}
