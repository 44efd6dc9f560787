import type { Folder } from '../../../src/host/files/files.ts'
import type { Result } from '../../../src/model/errors.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import type { BlobKey, SessionId, TurnId } from '../../../src/model/ids.ts'
import type { LogWriter } from '../../../src/log/append.ts'
import type { LogLine } from '../../../src/log/line.ts'
import { acquireLog, createLog } from '../../../src/log/open.ts'
import { immediateClock, testPlace, type TestPlace } from './log-place.ts'
import { textFold, type TextState } from './text-fold.ts'

/** What a story submitted and what was acknowledged; kept outside the disk, so that a crash does not affect it. */
export interface Journal {
  /** Set before the creation of the Session is acknowledged. */
  session: SessionId | undefined
  begun: boolean
  /** Texts passed to the Log, acknowledged or not. */
  readonly submitted: Set<string>
  /** The hash of each acknowledged line, by number. */
  readonly acknowledged: Map<number, string>
  readonly blobs: Map<BlobKey, Buffer>
}

export function newJournal(): Journal {
  return {
    session: undefined,
    begun: false,
    submitted: new Set(),
    acknowledged: new Map(),
    blobs: new Map(),
  }
}

export class Refused extends Error {}

/**
 * Two Turns with every operation that writes to the disk: a Session is created, Events are appended alone and together,
 * blobs are put and named, a field is spilled, a Turn ends, the index is written, the Log is opened again.
 */
export async function runStory(root: Folder, journal: Journal): Promise<void> {
  const storage = await testPlace(root, immediateClock)
  const storyWriter = new StoryWriter(storage, journal)
  await storyWriter.begin()
  await storyWriter.turn(1)
  await storyWriter.end()
  await storyWriter.open()
  await storyWriter.turn(2)
  await storyWriter.end()
}

export class StoryWriter {
  readonly storage: TestPlace
  readonly journal: Journal
  #writer: LogWriter<TextState> | undefined
  #count = 0

  constructor(storage: TestPlace, journal: Journal) {
    this.storage = storage
    this.journal = journal
    this.#count = journal.submitted.size
  }

  async begin(): Promise<void> {
    const { place, keep } = this.storage
    const session = place.ids.session()
    this.journal.session = session
    const begun = await createLog(place, session, [sessionStarted], { fold: textFold, keep })
    this.#writer = value(begun)
    this.journal.begun = true
    this.journal.acknowledged.set(0, this.#writer.cursor.prev ?? '')
  }

  async open(): Promise<void> {
    const { place, keep } = this.storage
    const { session } = this.journal
    if (session === undefined) throw new Error('the story has no Session yet')
    this.#writer = value(await acquireLog(place, session, { fold: textFold, keep }))
    this.journal.begun = true
  }

  get writer(): LogWriter<TextState> {
    if (this.#writer === undefined) throw new Error('no Log is open')
    return this.#writer
  }

  async turn(n: number): Promise<void> {
    const turn = this.storage.place.ids.turn()
    await this.append([
      { type: 'turn_started', turn_id: turn, data: { source: { presenter: 'story' } } },
      this.#message(turn, 40),
    ])
    // Sizes below and above a sector, so that a write can tear inside a line and between lines.
    await Promise.all(
      [30, 700, 20, 1500, 90].map((length) => this.append([this.#notice(turn, length)])),
    )
    const kept = await this.put(Buffer.alloc(1300, `blob ${n} `))
    await this.append([this.#result(turn, kept), this.#message(turn, 2500)])
    await this.put(Buffer.alloc(1300, 'the same bytes each Turn '))
    // Over the limit of a field, so it is spilled to a blob.
    await this.append([this.#message(turn, 66_000)])
    await this.append([turnEnded(turn)])
  }

  async end(): Promise<void> {
    await this.writer.release()
    this.#writer = undefined
  }

  async append(drafts: readonly EventDraft[]): Promise<void> {
    const lines = value(await this.writer.append(drafts))
    this.#acknowledge(lines)
  }

  async put(bytes: Buffer): Promise<BlobKey> {
    const key = value(await this.storage.store.put([bytes], 'text/plain'))
    this.journal.blobs.set(key, bytes)
    return key
  }

  #acknowledge(lines: readonly LogLine[]): void {
    for (const { seq, hash } of lines) this.journal.acknowledged.set(seq, hash)
  }

  #text(length: number): string {
    this.#count += 1
    const text = `${this.#count}:`.padEnd(length, 'é.')
    this.journal.submitted.add(text)
    return text
  }

  #message(turn: TurnId, length: number): EventDraft {
    const data = { text: this.#text(length), prompt_mode: 'string' } as const
    return { type: 'user_message', turn_id: turn, data }
  }

  #notice(turn: TurnId, length: number): EventDraft {
    return { type: 'notice', turn_id: turn, data: { code: 'story', text: this.#text(length) } }
  }

  #result(turn: TurnId, after: BlobKey): EventDraft {
    return {
      type: 'tool_result',
      turn_id: turn,
      data: {
        call_id: 'c1',
        name: 'write',
        outcome: 'ok',
        output: this.#text(60),
        duration_ms: 1,
        after_blob: after,
      },
    }
  }
}

export const sessionStarted: EventDraft = {
  type: 'session_started',
  data: {
    workspace: 'harbour',
    provider: 'rehearsal',
    model: 'rehearsal',
    mode: 'build',
    permission_mode: 'ask',
    presenter: 'story',
    harness_version: '0.1.0',
  },
}

export function turnEnded(turn: TurnId): EventDraft {
  const usage_total = {
    input: 0,
    cached_read: 0,
    cache_write: 0,
    output: 0,
    reasoning: 0,
    calls: 0,
  }
  return { type: 'turn_ended', turn_id: turn, data: { status: 'completed', usage_total } }
}

/** The value of a result; throws if it is an error. */
export function value<T>(result: Result<T>): T {
  if (result.ok) return result.value
  throw new Refused(`${result.error.kind}: ${result.error.message}`)
}
