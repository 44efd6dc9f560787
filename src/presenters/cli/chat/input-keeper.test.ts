import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { virtualClock } from '../../../../test/support/host/virtual-clock.ts'
import { systemClock } from '../../../host/clock.ts'
import { diskFolder } from '../../../host/files/disk.ts'
import { systemIds } from '../../../host/ids.ts'
import { inputDrafts } from '../../../host/typed-input/drafts.ts'
import { inputHistory } from '../../../host/typed-input/history.ts'
import { expand } from '../screen/chips.ts'
import { apply, insert, newEditor } from '../screen/editor.ts'
import { MessageQueue } from './commands/message-queue.ts'
import { InputKeeper } from './input-keeper.ts'

async function homeFolder(): Promise<string> {
  const folder = join(await freshFolder(), 'home')
  await mkdir(folder, { mode: 0o700 })
  return folder
}

/** The input of one chat process over a home on the disk. */
async function chatOver(folder: string, { id = 'ses_1', turns = 1 } = {}) {
  const clock = virtualClock()
  const home = await diskFolder(folder)
  const place = { home, ids: systemIds(systemClock), clock: systemClock, workspace: '/folder/a' }
  const typedInput = {
    history: inputHistory(place),
    drafts: inputDrafts(place),
    redact: (text: string) => text.replaceAll('sk-secret', '[redacted]'),
  }
  const defects: unknown[] = []
  const desk = {
    parts: { clock, typedInput },
    editor: newEditor([]),
    queue: new MessageQueue(() => keeper.follow()),
    current: { session: { id, state: { turns } }, sentMessages: () => [] as string[] },
    note: '',
    display: { refresh: () => {} },
  }
  const keeper: InputKeeper = new InputKeeper(desk, (defect) => defects.push(defect))
  const type = (text: string) => {
    desk.editor = insert(desk.editor, text)
    keeper.follow()
  }
  keeper.begin()
  await keeper.drain()
  return { clock, desk, keeper, type, defects, drafts: typedInput.drafts }
}

test('someone who types without a pause loses at most the keys of the last moment in a crash', async () => {
  const { clock, keeper, type, drafts } = await chatOver(await homeFolder())
  for (const letter of 'abcdefgh') {
    type(letter)
    clock.advance(100)
  }
  await keeper.drain()
  expect((await drafts.read('ses_1'))?.text).toBe('abcdef')
})

test('the queue survives a crash: the next chat of the Session holds it, without API keys', async () => {
  const folder = await homeFolder()
  const { clock, desk, keeper, type } = await chatOver(folder)
  type('half a thought')
  desk.queue.add('first')
  desk.queue.add('use sk-secret')
  desk.queue.add('gone')
  desk.queue.remove(3)
  clock.advance(300)
  await keeper.drain()
  const next = await chatOver(folder)
  expect(next.desk.queue.texts).toEqual(['first', 'use [redacted]'])
  expect(next.desk.queue.isHeld).toBe(true)
  expect(next.desk.editor.draft.text).toBe('half a thought')
  const other = await chatOver(folder, { id: 'ses_2' })
  expect([other.desk.queue.length, other.desk.editor.draft.text]).toEqual([0, ''])
})

test('what was sent from the queue is not queued again, and an empty one leaves no file', async () => {
  const folder = await homeFolder()
  const { clock, desk, keeper, drafts } = await chatOver(folder)
  desk.queue.add('first')
  clock.advance(300)
  await keeper.drain()
  expect((await drafts.read('ses_1'))?.queue).toEqual(['first'])
  keeper.enter(desk.queue.next() ?? '')
  clock.advance(300)
  await keeper.drain()
  expect(await drafts.read('ses_1')).toBeUndefined()
})

test('a draft of a new Session belongs to it from its first Turn on', async () => {
  const folder = await homeFolder()
  const { clock, desk, keeper, type, drafts } = await chatOver(folder, { turns: 0 })
  type('half')
  clock.advance(300)
  await keeper.drain()
  expect((await drafts.read('new'))?.text).toBe('half')
  desk.current.session.state.turns = 1
  type(' more')
  clock.advance(300)
  await keeper.drain()
  expect([await drafts.read('new'), (await drafts.read('ses_1'))?.text]).toEqual([
    undefined,
    'half more',
  ])
})

test('another Session has its own draft and queue, and those of the first return with it', async () => {
  const folder = await homeFolder()
  const { desk, keeper, type } = await chatOver(folder)
  type('of the first')
  desk.queue.add('queued in the first')
  desk.current.session.id = 'ses_2'
  keeper.begin()
  await keeper.drain()
  expect([desk.editor.draft.text, desk.queue.texts]).toEqual(['', []])
  desk.current.session.id = 'ses_1'
  keeper.begin()
  await keeper.drain()
  expect([desk.editor.draft.text, desk.queue.texts]).toEqual([
    'of the first',
    ['queued in the first'],
  ])
})

test('a stashed draft with a long paste is whole in another Session, whatever is pasted there', async () => {
  const { desk, keeper } = await chatOver(await homeFolder())
  const pasteOf = (word: string) => Array.from({ length: 6 }, () => word).join('\n')
  const paste = (text: string) => {
    desk.editor = apply(desk.editor, { kind: 'paste', text }, []).state
  }
  paste(pasteOf('rope'))
  keeper.stash()
  desk.current.session.id = 'ses_2'
  keeper.begin()
  await keeper.drain()
  paste(pasteOf('sail'))
  keeper.stash()
  const [first, second] = desk.editor.history.map((text) => expand(text, desk.editor.chips))
  expect([first, second]).toEqual([pasteOf('rope'), pasteOf('sail')])
})

test('a message of another chat that was sent meanwhile is found', async () => {
  const folder = await homeFolder()
  const { desk, keeper } = await chatOver(folder)
  const other = await chatOver(folder, { id: 'ses_2' })
  other.keeper.enter('from the other chat')
  await other.keeper.drain()
  expect(desk.editor.history).toEqual([])
  await keeper.reread()
  expect(desk.editor.history).toEqual(['from the other chat'])
})
