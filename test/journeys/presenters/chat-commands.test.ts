import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { flat, leave, openChat } from '../../support/presenters/open-chat.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'

test('/new starts a Session with the same settings, names how to continue the one before, and /export, /copy and /verify work on it', async () => {
  const chat = await openChat({ permission: 'read-only' })
  chat.say('/title Harbour')
  await chat.until('Title: Harbour.')
  chat.say('What is in this folder?')
  await chat.turns(1)
  chat.say('/copy')
  await chat.until(/^Copied the answer, \d+ characters, through the terminal\.$/m)
  chat.say('/export json out.json')
  await chat.until(/Wrote .*out\.json/)
  chat.say('/export json out.json')
  await chat.until('already exists and was not overwritten')
  chat.say('/verify')
  await chat.until('identical to the record')
  chat.say('/new')
  await chat.until('The Session before is kept: "Harbour"')
  chat.say('What is in this folder?')
  await chat.turns(2)
  expect(await leave(chat)).toBe(0)
  const { harness } = await harnessPlace({}, chat.root)
  const all = await harness.list()
  expect(all.map(({ state }) => [state.turns, state.permission_mode])).toEqual([
    [1, 'read-only'],
    [1, 'read-only'],
  ])
  const before = all.find(({ state }) => state.title === 'Harbour')
  expect(flat(chat)).toContain(`/resume ${before?.id}`)
  const exported: unknown = JSON.parse(await readFile(join(chat.workspace, 'out.json'), 'utf8'))
  expect(exported).toMatchObject({ session: { session_id: before?.id } })
  value(await harness.verify(all[0]?.id ?? before!.id, { requests: true }))
})

test('a command that starts a Session or a Turn is refused with a next step while a Turn runs', async () => {
  const chat = await openChat({ gated: true })
  chat.say('What happened?')
  await chat.until('Enter steers')
  for (const command of ['/new', '/clear', '/init']) {
    chat.say(command)
    await chat.until((rows) => {
      const at = rows.findLastIndex((row) => row === command)
      return at !== -1 && (rows[at + 1] ?? '').startsWith('✗ A Turn is running in this Session.')
    })
  }
  expect(flat(chat)).toContain('Wait for it to end, or press Ctrl-C to interrupt it.')
  chat.write('\u001b')
  await chat.until(/^Interrupted\.$/m)
  expect(await leave(chat)).toBe(0)
})

test('the status line shows the model at once, also when another client changes it', async () => {
  const chat = await openChat()
  await chat.until(/^ask · rehearsal · /m)
  chat.say('/model other')
  await chat.until(/^ask · other · /m)
  const { harness } = await harnessPlace({}, chat.root)
  const [listed] = await harness.list()
  const client = value(await harness.open(listed!.id))
  value(await client.change({ model: { provider: 'rehearsal', model: 'third' }, effort: 'low' }))
  await client.close()
  await chat.until(/^ask · third low · /m)
  expect(chat.terminal.screen().join('\n')).not.toContain('rehearsal')
  expect(await leave(chat)).toBe(0)
})
