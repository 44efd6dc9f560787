import { setTimeout as delay } from 'node:timers/promises'
import type { Pty } from './pty.ts'

/** Shown while a question accepts keys and waits for a choice. */
export const QUESTION = 'choose · Enter confirms · Esc no'

/** How a key is pressed until it has an effect: a question ignores one that comes too early. */
export interface Pressing {
  /** A question ignores Enter for a moment after another key. */
  readonly afterMs: number
  /** Longer than a question ignores keys after one that came too early. */
  readonly againMs: number
}

/** Pressing it twice does no harm. */
export const CHOICE: Pressing = { afterMs: 0, againMs: 600 }
/** A second Enter would confirm what comes next: it is pressed again only if the first one was surely ignored, also on a busy machine. */
export const CONFIRMATION: Pressing = { afterMs: 150, againMs: 20_000 }

type QuestionPty = Pick<Pty, 'write' | 'until' | 'terminal'>

/** Chooses an answer by its number and confirms it, with text if the answer takes text. */
export async function choose(pty: QuestionPty, choice: string, words?: string): Promise<void> {
  await pty.until(QUESTION)
  const chosen = new RegExp(`^❯ ${choice} `, 'm')
  await pressUntil(pty, choice, CHOICE, (rows) => chosen.test(rows.join('\n')))
  await pressUntil(pty, '\r', CONFIRMATION, (rows) => !rows.join('\n').includes(QUESTION))
  if (words !== undefined) {
    pty.write(words)
    await pty.until(`${words}▏`)
  }
  await pressUntil(pty, '\r', CONFIRMATION, (rows) => !rows.join('\n').includes('Enter confirms'))
}

async function pressUntil(
  pty: QuestionPty,
  key: string,
  { afterMs, againMs }: Pressing,
  done: (rows: readonly string[]) => boolean,
): Promise<void> {
  if (done(pty.terminal.screen())) return
  await delay(afterMs)
  pty.write(key)
  const again = setInterval(() => pty.write(key), againMs)
  await pty.until(done).finally(() => clearInterval(again))
}
