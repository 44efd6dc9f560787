import type { EphemeralData } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import type { Question } from '../../../src/session/questions/session-questions.ts'
import type { SessionUpdate } from '../../../src/session/watch/session-stream.ts'

/** A client that reads its stream as fast as it can and keeps everything. */
export class Watching {
  readonly updates: SessionUpdate[] = []
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>
  readonly #stop = new AbortController()
  #wake = new Set<() => void>()

  constructor(session: Session, after_seq = -1) {
    this.ended = this.#read(session, after_seq)
  }

  /** The numbers of the Events, in the order in which they came. */
  get seqs(): number[] {
    return this.updates.flatMap((update) => (update.kind === 'event' ? [update.raw.seq] : []))
  }

  /** The types of the Events, in the order in which they came. */
  get types(): string[] {
    return this.updates.flatMap((update) => (update.kind === 'event' ? [update.raw.type] : []))
  }

  /** All deltas of answers. */
  get text(): string {
    return this.updates
      .flatMap((one) =>
        one.kind === 'ephemeral' && one.ephemeral.type === 'text_delta'
          ? [one.ephemeral.data.text]
          : [],
      )
      .join('')
  }

  /** The questions that were reported as open, in order. */
  get requested(): EphemeralData<'permission_requested'>[] {
    return this.updates.flatMap((one) =>
      one.kind === 'ephemeral' && one.ephemeral.type === 'permission_requested'
        ? [one.ephemeral.data]
        : [],
    )
  }

  /** The questions that were reported as settled, in order. */
  get settled(): EphemeralData<'permission_settled'>[] {
    return this.updates.flatMap((one) =>
      one.kind === 'ephemeral' && one.ephemeral.type === 'permission_settled'
        ? [one.ephemeral.data]
        : [],
    )
  }

  /** Resolves when the condition holds, which is tested after each update. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#wake.delete(wake)
          resolve()
        }
        this.#wake.add(wake)
      })
    }
  }

  /** Resolves when it has the Event with this number. */
  untilSeq(seq: number): Promise<void> {
    return this.until(() => (this.seqs.at(-1) ?? -1) >= seq)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.ended
  }

  async #read(session: Session, after_seq: number): Promise<void> {
    for await (const update of session.stream({ after_seq, signal: this.#stop.signal })) {
      this.updates.push(update)
      for (const wake of this.#wake) wake()
    }
  }
}

/** The numbers after `after` up to `upTo`. */
export function numbersBetween(after: number, upTo: number): number[] {
  return Array.from({ length: Math.max(0, upTo - after) }, (_, at) => after + 1 + at)
}

/** The open question of a Session, as soon as there is one. */
export async function questionOf({ openQuestions }: Session): Promise<Question> {
  for (;;) {
    const [open] = openQuestions.open
    if (open !== undefined) return open
    await new Promise<void>((resolve) => {
      const stop = openQuestions.listen(() => {
        stop()
        resolve()
      })
    })
  }
}
