import type { Pty } from './pty.ts'

/** A question is open to keys, and waits for a choice. */
export const QUESTION = 'choose · Enter confirms · Esc no'

/** Longer than a question stays closed to keys after one that came too soon. */
const AGAIN_MS = 600

type Asked = Pick<Pty, 'write' | 'until' | 'terminal'>

/** Chooses an answer by its number and confirms it, with words where the answer takes some. */
export async function choose(pty: Asked, choice: string, words?: string): Promise<void> {
  await pty.until(QUESTION)
  const chosen = new RegExp(`^❯ ${choice} `, 'm')
  await pressing(pty, choice, (shown) => chosen.test(shown.join('\n')))
  await pressing(pty, '\r', (shown) => !shown.join('\n').includes(QUESTION))
  if (words !== undefined) {
    pty.write(words)
    await pty.until(`${words}▏`)
  }
  await pressing(pty, '\r', (shown) => !shown.join('\n').includes('Enter confirms'))
}

/** Presses a key until it had its effect: one that comes too soon counts for nothing. */
async function pressing(
  pty: Asked,
  key: string,
  done: (shown: readonly string[]) => boolean,
): Promise<void> {
  if (done(pty.terminal.screen())) return
  pty.write(key)
  const again = setInterval(() => pty.write(key), AGAIN_MS)
  await pty.until(done).finally(() => clearInterval(again))
}
