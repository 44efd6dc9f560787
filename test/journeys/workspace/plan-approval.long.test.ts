import { expect, test } from 'vitest'
import { choose, QUESTION } from '../../support/cli/question.ts'
import {
  leave,
  logOf,
  messagesIn,
  openChat,
  type OpenChat,
} from '../../support/presenters/open-chat.ts'

const TASK = 'Make a plan: look around, then write notes.txt'
const [ESCAPE, CTRL_C] = ['\u001b', '\u0003'] as const
const PLAN = /^plan, read-only · .*\/help$/m

/** A chat in which the model made a plan, and the person is asked about it. */
async function planned(): Promise<OpenChat> {
  const chat = await openChat({ mode: 'plan', permission: 'auto' })
  chat.say(TASK)
  await chat.until('Carry out this plan?')
  await chat.until(/^ +1\. look around/im)
  return chat
}

test('a plan that is approved without auto is carried out with questions', async () => {
  const chat = await planned()
  await choose(chat, '1')
  await chat.until('> The plan is approved. Carry it out.')
  await chat.until(/^ask · /m)
  await chat.turns(2)
  expect(await leave(chat)).toBe(0)
  const events = await logOf(chat.root)
  expect(messagesIn(events)).toEqual([TASK, 'The plan is approved. Carry it out.'])
  expect(events.flatMap((one) => (one.type === 'session_settings' ? [one.data] : []))).toEqual([
    { mode: 'build', permission_mode: 'ask' },
  ])
})

test('a plan returns to the input to be edited, and the mode stays', async () => {
  const chat = await planned()
  await choose(chat, '3')
  await chat.until(/^> Change the plan to:\n {2}1\. look around/im)
  await chat.until(PLAN)
  chat.write(CTRL_C)
  await chat.until('Cleared; Up brings it back.')
  expect(await leave(chat)).toBe(0)
  expect(messagesIn(await logOf(chat.root))).toEqual([TASK])
})

test('a rejected plan tells the model the reason, and the mode stays', async () => {
  const chat = await planned()
  await choose(chat, '4', 'too short')
  await chat.until('> The plan is rejected: too short')
  await chat.turns(2)
  await chat.until(PLAN)
  expect(await leave(chat)).toBe(0)
  expect(messagesIn(await logOf(chat.root)).at(-1)).toBe('The plan is rejected: too short')
})

test('Esc leaves everything as it is', async () => {
  const chat = await planned()
  await chat.until(QUESTION)
  chat.write(ESCAPE)
  await chat.until(PLAN)
  expect(await leave(chat)).toBe(0)
  const events = await logOf(chat.root)
  expect(messagesIn(events)).toEqual([TASK])
  expect(events.filter(({ type }) => type === 'session_settings')).toEqual([])
})
