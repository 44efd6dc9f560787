import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  flat,
  IDLE,
  leave,
  logOf,
  openChat,
  times,
  type OpenChat,
} from '../../support/presenters/open-chat.ts'

async function reading(chat: OpenChat, ...names: readonly string[]): Promise<void> {
  for (const [at, name] of names.entries()) {
    const lines = Array.from(
      { length: 300 },
      (_, line) => `${name} ${line}: the tide turns at noon`,
    )
    await writeFile(join(chat.workspace, name), lines.join('\n'))
    chat.say(`Read ${name}`)
    await chat.turns(at + 1)
  }
}

/** Sends a command and waits for this text, which it shows. */
async function command(chat: OpenChat, typed: string, shows: string): Promise<void> {
  const before = times(flat(chat), shows)
  chat.say(typed)
  await chat.until((rows) => times(flat(chat), shows) > before && IDLE.test(rows.join('\n')))
}

test('a chat previews a compaction, makes it, continues, and undoes it', async () => {
  const chat = await openChat({ rows: 60 })
  await reading(chat, 'a.txt', 'b.txt', 'c.txt')
  await command(chat, '/compact dry-run', 'To compact: /compact')
  expect(flat(chat)).toContain('Dry run: nothing was written. 2 long tool outputs (')
  await command(chat, '/compact', 'To undo the compaction: /compact undo')
  expect(flat(chat)).toMatch(
    /Compacted: pointers replace long tool outputs before Event \d+; about/,
  )
  chat.say('Read a.txt')
  await chat.turns(4)
  await command(chat, '/compact undo', 'The last compaction was undone')
  await command(chat, '/compact undo', 'Nothing to undo')
  expect(await leave(chat)).toBe(0)
  const types = (await logOf(chat.root)).map(({ type }) => type)
  expect(types.filter((type) => type.includes('compaction'))).toEqual([
    'history_compaction',
    'compaction_undone',
  ])
})

test('while a Turn runs, a compaction is refused', async () => {
  const chat = await openChat({ gated: true })
  chat.say('What can you do?')
  await chat.until(/Esc interrupts/)
  chat.say('/compact')
  await chat.until(() => flat(chat).includes('A Turn is running in this Session.'))
  chat.write('\u0003')
  await chat.until(() => flat(chat).includes('Interrupted.'))
  await leave(chat)
  expect((await logOf(chat.root)).some(({ type }) => type === 'history_compaction')).toBe(false)
})
