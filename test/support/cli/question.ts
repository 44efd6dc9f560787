import type { Pty } from './pty.ts'

/** Shown while a question accepts keys and waits for a choice. */
export const QUESTION = 'choose · Enter confirms · Esc no'

/** Longer than a question ignores keys after one that was pressed too early. */
const RETRY_MS = 600

type QuestionPty = Pick<Pty, 'write' | 'until' | 'terminal'>

/** Chooses an answer by its number and confirms it, with text if the answer takes text. */
export async function choose(pty: QuestionPty, choice: string, words?: string): Promise<void> {
  await pty.until(QUESTION)
  const chosen = new RegExp(`^❯ ${choice} `, 'm')
  await pressUntil(pty, choice, (rows) => chosen.test(rows.join('\n')))
  await pressUntil(pty, '\r', (rows) => !rows.join('\n').includes(QUESTION))
  if (words !== undefined) {
    pty.write(words)
    await pty.until(`${words}▏`)
  }
  await pressUntil(pty, '\r', (rows) => !rows.join('\n').includes('Enter confirms'))
}

/** Presses a key until it has an effect: a key that is pressed too early is ignored. */
async function pressUntil(
  pty: QuestionPty,
  key: string,
  done: (rows: readonly string[]) => boolean,
): Promise<void> {
  if (done(pty.terminal.screen())) return
  pty.write(key)
  const again = setInterval(() => pty.write(key), RETRY_MS)
  await pty.until(done).finally(() => clearInterval(again))
}
