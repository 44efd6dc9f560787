import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { flat, IDLE, leave, logOf, openChat } from '../../support/presenters/open-chat.ts'

const { isConfined } = await systemSandbox().status()

test('a list under the input completes a path; the message includes the file, and the chat shows it', async () => {
  const chat = await openChat()
  await mkdir(join(chat.workspace, 'src'))
  await writeFile(join(chat.workspace, 'src', 'harbour.ts'), 'export const rope = 1\n')
  await writeFile(join(chat.workspace, 'Makefile'), 'all:\n')
  chat.write('See @harb')
  await chat.until('› src/harbour.ts')
  chat.write('\t')
  await chat.until('> See @src/harbour.ts')
  chat.write('\r')
  await chat.turns(1)
  expect(flat(chat)).toContain('@src/harbour.ts · 1 line · 22 bytes')
  expect(await leave(chat)).toBe(0)
  const [message] = (await logOf(chat.root)).flatMap((event) =>
    event.type === 'user_message' ? [event.data] : [],
  )
  expect(message?.mentions?.map(({ path }) => path)).toEqual(['src/harbour.ts'])
})

test.each([
  ['below the workspace', 'workspace/src', ['harbour.ts', '../Makefile']],
  ['outside the workspace', '.', ['src/harbour.ts', 'Makefile']],
])('%s, a completed path is the file that the list shows', async (_, here, typed) => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace', 'src'), { recursive: true })
  for (const name of ['src/harbour.ts', 'Makefile'])
    await writeFile(join(root, 'workspace', name), `${name}\n`)
  // The same names outside of the workspace are not meant.
  await writeFile(join(root, 'Makefile'), 'other\n')
  const chat = await openChat({ root, here })
  for (const path of typed) {
    chat.write(`@${path.slice(-5)}`)
    await chat.until(`› ${path}`)
    chat.write('\t')
    await chat.until(`@${path}`)
    chat.write('and ')
  }
  chat.write('\r')
  await chat.turns(1)
  expect(await leave(chat)).toBe(0)
  const [message] = (await logOf(chat.root)).flatMap((event) =>
    event.type === 'user_message' ? [event.data] : [],
  )
  expect(message?.mentions?.map(({ path }) => path)).toEqual(['src/harbour.ts', 'Makefile'])
})

test('Esc closes the list first, and arrows choose in it; commands are in it with what they do', async () => {
  const chat = await openChat()
  chat.write('/perm')
  await chat.until('› permission ')
  chat.write('\u001b[B')
  await chat.until('› permissions')
  chat.write('\u001b')
  await chat.until((rows) => !rows.join('\n').includes('› permissions'))
  chat.write('\u0015')
  await chat.until(/^>$/m)
  chat.write('/hel')
  await chat.until('› help')
  chat.write('\r')
  await chat.until('> /help')
  chat.write('\r')
  // The help has more rows than the terminal.
  await chat.until(() => flat(chat).includes('exit, if the input is empty'))
  expect(flat(chat)).toContain('!COMMAND')
  expect(flat(chat)).toContain('include a file or a folder')
  expect(await leave(chat)).toBe(0)
})

test.skipIf(!isConfined)(
  '!COMMAND runs at once and shows its output, Esc interrupts it, and the next message has both',
  async () => {
    const chat = await openChat({ permission: 'read-only' })
    chat.say('!echo rope-$((40 + 2)); exit 3')
    await chat.until('[exit code 3]')
    expect(flat(chat)).toContain('! echo rope-$((40 + 2)); exit 3 rope-42 [exit code 3]')
    await chat.until(IDLE)
    chat.say('!echo begun-$((1 + 1)); sleep 600')
    await chat.until('begun-2')
    await chat.until(/Esc interrupts$/m)
    chat.write('\u001b')
    await chat.until('The command was interrupted.')
    await chat.until(IDLE)
    chat.say('Hello')
    await chat.turns(1)
    expect(await leave(chat)).toBe(0)
    const events = await logOf(chat.root)
    const [message] = events.flatMap((event) => (event.type === 'user_message' ? [event.data] : []))
    expect(message?.shell?.map(({ outcome, output }) => [outcome, output])).toEqual([
      ['failed', 'rope-42\n[exit code 3]\n'],
      ['failed', 'begun-2\n[interrupted]\n'],
    ])
  },
)
