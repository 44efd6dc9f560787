import { expect, test } from 'vitest'
import { choose, QUESTION } from '../../support/cli/question.ts'
import { leave, openChat, type OpenChat } from '../../support/presenters/open-chat.ts'

const WHOLE = 100_000
/** Every Turn takes hours, or no time, as far as the chat knows. */
const [HOURS, NO_TIME] = [10_000_000, 0] as const

/** The titles of the terminal, in order. */
function titles(chat: OpenChat): string[] {
  return [...chat.raw().matchAll(/\p{Cc}\]2;(\P{Cc}*)\p{Cc}/gu)].map(([, title = '']) => title)
}

function notified(chat: OpenChat, text: string): number {
  return chat.raw().split(`;${text}\u0007`).length - 1
}

test('the title has the state and the subject; a long Turn that ends and a question ring and notify the desktop', async () => {
  const chat = await openChat({ pace: HOURS, gated: true, chunk: WHOLE })
  expect(titles(chat)).toEqual(['workspace · hawser'])
  chat.say('What happened?')
  await chat.until('Enter steers')
  await chat.until(() => titles(chat).at(-1) === '● What happened? · hawser')
  expect(chat.terminal.bells).toBe(0)
  chat.signal('SIGUSR2')
  await chat.turns(1)
  await chat.until(() => notified(chat, 'The Turn has ended') === 1)
  expect([chat.terminal.bells, titles(chat).at(-1)]).toEqual([1, 'What happened? · hawser'])
  chat.say('Write "x" to out.txt')
  chat.signal('SIGUSR2')
  await chat.until(QUESTION)
  expect([chat.terminal.bells, notified(chat, 'A question waits')]).toEqual([2, 1])
  expect(titles(chat).at(-1)).toBe('? What happened? · hawser')
  await choose(chat, '1')
  chat.signal('SIGUSR2')
  await chat.turns(2)
  await chat.until(() => notified(chat, 'The Turn has ended') === 2)
  expect(await leave(chat)).toBe(0)
  // The terminal has its own title again.
  expect(chat.raw()).toContain('\u001b[23;2t')
})

test('the end of a short Turn is silent', async () => {
  const chat = await openChat({ pace: NO_TIME })
  chat.say('What happened?')
  await chat.turns(1)
  expect(await leave(chat)).toBe(0)
  expect([chat.terminal.bells, notified(chat, 'The Turn has ended')]).toEqual([0, 0])
})
