import { beforeAll, expect, test } from 'vitest'
import { catalogue } from '../../../src/providers/models/catalogue.ts'
import { bundleChat, flat, leave, logOf, openChat } from './open-chat.ts'

let program = ''
beforeAll(async () => {
  program = await bundleChat()
})

const CLAUDE = catalogue({}).defaultOf('anthropic') ?? ''

test("/model refuses another provider's model by name, and the Session keeps its own", async () => {
  const chat = await openChat(program)
  chat.say(`/model ${CLAUDE}`)
  await chat.until('belongs to provider anthropic')
  expect(flat(chat)).toContain(`/model anthropic ${CLAUDE}`)
  expect(flat(chat)).not.toContain(`Model: ${CLAUDE}`)
  expect(await leave(chat)).toBe(0)
  const changed = (await logOf(chat.root)).filter(({ type }) => type === 'session_settings')
  expect(changed).toEqual([])
})
