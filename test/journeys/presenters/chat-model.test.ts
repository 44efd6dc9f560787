import { expect, test } from 'vitest'
import { catalogue } from '../../../src/providers/models/catalogue.ts'
import { flat, leave, logOf, openChat } from '../../support/presenters/open-chat.ts'

const CLAUDE = catalogue({}).defaultOf('anthropic') ?? ''

test("/model refuses another provider's model by name, and the Session keeps its own", async () => {
  const chat = await openChat()
  chat.say(`/model ${CLAUDE}`)
  await chat.until('belongs to provider anthropic')
  expect(flat(chat)).toContain(`/model anthropic ${CLAUDE}`)
  expect(flat(chat)).not.toContain(`Model: ${CLAUDE}`)
  expect(await leave(chat)).toBe(0)
  const changed = (await logOf(chat.root)).filter(({ type }) => type === 'session_settings')
  expect(changed).toEqual([])
})
