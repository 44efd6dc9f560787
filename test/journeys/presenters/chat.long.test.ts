import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NO_RESULT } from '../../../src/providers/rehearsal/speech.ts'
import { welcome } from '../../../src/providers/rehearsal/welcome.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { openPty } from '../../support/cli/pty.ts'
import { choose, QUESTION } from '../../support/cli/question.ts'
import {
  chatProgram,
  flat,
  IDLE,
  leave,
  logOf,
  openChat,
  messagesIn,
  times,
  type OpenChat,
} from '../../support/presenters/open-chat.ts'

/** As the first message, it gets a long answer in one call. */
const QUESTIONS =
  'What came back? What did it say? Did it work? How did it go? What went wrong? What was the exit code? What was the last result?'
const ANSWER = `${NO_RESULT} ${welcome({ files: [], handles: [] })}`
const CHUNK = 17

/** Releases the next piece of the answer, the `count`th, and waits until it is shown. */
async function streamed(chat: OpenChat, count: number): Promise<void> {
  chat.signal('SIGUSR2')
  await chat.until(() => flat(chat).includes(ANSWER.slice(0, CHUNK * count).trimEnd()))
}

/** Releases the remaining pieces, after `count` of them. */
async function released(chat: OpenChat, count: number): Promise<void> {
  for (let at = count; at * CHUNK < ANSWER.length; at++) await streamed(chat, at + 1)
}

describe.each([80, 200])('at %i columns', (columns) => {
  test('a Turn with a tool call is shown as it happens, with how to continue the Session', async () => {
    const chat = await openChat({ columns })
    await writeFile(join(chat.workspace, 'notes.txt'), 'rope\nsail\n')
    chat.say('Read notes.txt')
    await chat.turns(1)
    const shown = chat.terminal.all().filter((row) => row !== '')
    expect(shown.slice(1, 7)).toEqual([
      '> Read notes.txt',
      'I will read notes.txt.',
      '● read notes.txt · 2 lines',
      'Done: read notes.txt',
      '> 1   rope',
      '> 2   sail',
    ])
    expect(shown[7]).toMatch(/^[\d,]+ tokens in \(0 % cached\) · \d+ out · [\d.]+ s$/)
    expect(shown.slice(8)).toEqual(['>', expect.stringMatching(IDLE)])
    expect(await leave(chat)).toBe(0)
    const [latest] = await (await harnessPlace({}, chat.root)).harness.list()
    expect(
      chat.terminal
        .all()
        .filter((row) => row !== '')
        .slice(8),
    ).toEqual([`Continue with: hawser chat --session ${latest?.id}`])
  })

  test('a question rings once, is answered no, once, or for the Session, and does not change the draft', async () => {
    const chat = await openChat({ columns })
    chat.say('Write "hello" to out.txt')
    await chat.until('? write out.txt')
    await chat.until('  1 + hello')
    await choose(chat, '7', 'not there')
    await chat.turns(1)
    expect(flat(chat)).toContain('Denied by you: not there')
    expect(flat(chat)).toContain('Their reason: not there')
    expect(chat.terminal.screen()).toContain('✗ write out.txt · denied')
    await expect(readFile(join(chat.workspace, 'out.txt'))).rejects.toThrow('ENOENT')

    chat.say('Write "hello" to out.txt')
    await chat.until(QUESTION)
    // A key without a meaning is neither an answer nor part of a prompt.
    chat.write('y')
    await chat.until('A question …')
    await choose(chat, '1')
    await chat.turns(2)
    expect(chat.terminal.screen()).toContain('● write out.txt · created')

    chat.say('Write "more" to out.txt')
    await choose(chat, '2')
    await chat.turns(3)
    chat.say('Write "most" to out.txt')
    await chat.turns(4)
    expect(await readFile(join(chat.workspace, 'out.txt'), 'utf8')).toBe('most')
    const row = chat.terminal.screen().findLastIndex((text) => text === '  1 + most')
    expect(chat.terminal.coloursOf(row)).toEqual([2])
    expect(chat.terminal.bells).toBe(3)
    const decisions = (await logOf(chat.root)).flatMap((event) =>
      event.type === 'permission_decision' ? [event.data] : [],
    )
    expect(decisions.map(({ decision, scope, by }) => `${decision} ${scope} ${by}`)).toEqual([
      'denied once person',
      'allowed once person',
      'allowed session person',
      'allowed session policy',
    ])
  })

  test('a paste of 500 lines is one message', async () => {
    const chat = await openChat({ columns })
    const lines = Array.from({ length: 500 }, (_, at) => `line ${at} of what was pasted`)
    chat.write(`\u001b[200~${lines.join('\r')}\u001b[201~`)
    await chat.until('[paste 1: 500 lines]')
    expect(chat.terminal.screen().filter((row) => row.includes('of what was pasted'))).toEqual([])
    chat.write('\r')
    await chat.turns(1)
    expect(messagesIn(await logOf(chat.root))).toEqual([lines.join('\n')])
    expect(flat(chat)).toContain('line 19 of what was pasted [… 480 more lines · Ctrl-O]')
  })

  test('typed text and a streaming answer do not mix, and both are complete', async () => {
    const chat = await openChat({ columns, gated: true, chunk: CHUNK })
    chat.say(QUESTIONS)
    const typed = 'a word for later'
    for (const at of typed.split('').keys()) {
      chat.write(typed.charAt(at))
      await streamed(chat, at + 1)
      await chat.until((rows) => rows.includes(`> ${typed.slice(0, at + 1)}▏`))
      const above = flat(chat).split(`> ${QUESTIONS} `)[1] ?? ''
      const shown = ANSWER.slice(0, CHUNK * (at + 1)).trimEnd()
      expect(above.slice(0, shown.length)).toBe(shown)
      expect(above.slice(shown.length)).toMatch(/^ \S answering · /)
    }
    await released(chat, typed.length)
    await chat.turns(1)
    expect(flat(chat)).toContain(`> ${QUESTIONS} ${ANSWER} `)
    expect(
      chat.terminal
        .screen()
        .filter((row) => row !== '')
        .slice(-2),
    ).toEqual([`> ${typed}`, expect.stringMatching(IDLE)])
    expect(messagesIn(await logOf(chat.root))).toEqual([QUESTIONS])
  })
})

test.each([
  [80, 200],
  [80, 41],
  [200, 80],
])(
  'a terminal resized from %i to %i columns while an answer streams shows it once and completely',
  async (from, to) => {
    const chat = await openChat({ columns: from, gated: true, chunk: CHUNK })
    chat.say(QUESTIONS)
    for (let at = 1; at <= 8; at++) await streamed(chat, at)
    chat.write('日本 draft')
    await chat.until('> 日本 draft▏')
    const before = ANSWER.slice(0, CHUNK * 8).trimEnd()
    await chat.resize(to, 30)
    await chat.until(
      (rows) => flat(chat).includes(before) && (to < from || rows.some((row) => row.length > from)),
    )
    await released(chat, 8)
    await chat.turns(1)
    expect(flat(chat)).toContain(` ${ANSWER} `)
    expect([times(flat(chat), 'I am the offline'), times(flat(chat), 'draft')]).toEqual([1, 1])
    chat.write('!')
    await chat.until('> 日本 draft!')
    await chat.resize(from, 30)
    chat.write('\u007f\u007f')
    await chat.until((rows) => rows.includes('> 日本 draf'))
    expect([times(flat(chat), 'I am the offline'), times(flat(chat), 'draf')]).toEqual([1, 1])
  },
)

test('a message that is sent during a Turn steers it', async () => {
  const chat = await openChat({ gated: true, chunk: 1000 })
  await writeFile(join(chat.workspace, 'a.txt'), 'one\n')
  chat.say('List all files')
  await chat.until('waiting for the model')
  chat.say('Read a.txt')
  await chat.until(/^↳ steering: Read a\.txt$/m)
  chat.signal('SIGUSR2')
  await chat.until(
    (rows) =>
      rows.includes('● glob * · 1 line') &&
      rows.some((row) => row.includes('waiting for the model')),
  )
  chat.signal('SIGUSR2')
  await chat.until(
    (rows) =>
      rows.includes('● read a.txt · 1 line') &&
      rows.some((row) => row.includes('waiting for the model')),
  )
  chat.signal('SIGUSR2')
  await chat.turns(1)
  expect(times(flat(chat), '↳ steering: Read a.txt')).toBe(1)
  expect(flat(chat)).toContain('● read a.txt · 1 line')
  const messages = (await logOf(chat.root)).flatMap((event) =>
    event.type === 'user_message' ? [event.data] : [],
  )
  expect(messages).toMatchObject([{ text: 'List all files' }, { text: 'Read a.txt', steer: true }])
})

test('Ctrl-C interrupts a Turn, the next one works, and Ctrl-C again exits', async () => {
  const chat = await openChat({ permission: 'auto' })
  chat.say('Run `sleep 30`')
  await chat.until('… bash sleep 30')
  chat.write('\u0003')
  await chat.until('Interrupted. Press Ctrl-C again to exit.')
  await chat.until(/^Interrupted\.$/m)
  chat.say('List all files')
  await chat.turns(2)
  chat.say('Run `sleep 30`')
  await chat.until('… bash sleep 30')
  chat.write('\u0003\u0003')
  expect((await chat.ended).code).toBe(130)
  const ends = (await logOf(chat.root)).flatMap((event) =>
    event.type === 'turn_ended' ? [event.data.status] : [],
  )
  expect(ends).toEqual(['interrupted', 'completed', 'interrupted'])
})

test('Esc interrupts a Turn, and the next one works', async () => {
  const chat = await openChat({ permission: 'auto' })
  chat.say('Run `sleep 30`')
  await chat.until('… bash sleep 30')
  await chat.until('Esc interrupts')
  chat.write('\u001b')
  await chat.until(/^Interrupted\.$/m)
  chat.say('List all files')
  await chat.turns(2)
  expect(await leave(chat)).toBe(0)
  const ends = (await logOf(chat.root)).flatMap((event) =>
    event.type === 'turn_ended' ? [event.data.status] : [],
  )
  expect(ends).toEqual(['interrupted', 'completed'])
})

test('Ctrl-C at a question interrupts the Turn, and is not recorded as an answer', async () => {
  const chat = await openChat()
  chat.say('Write "hello" to out.txt')
  await chat.until(QUESTION)
  chat.write('\u0003')
  await chat.until(/^Interrupted\.$/m)
  expect(await leave(chat)).toBe(0)
  const decisions = (await logOf(chat.root)).flatMap((event) =>
    event.type === 'permission_decision' ? [event.data] : [],
  )
  expect(decisions.map(({ decision, by }) => `${decision} by ${by}`)).toEqual([
    'denied by interrupt',
  ])
})

test('Ctrl-C clears the draft, then warns, then exits and restores the terminal', async () => {
  const root = await freshFolder()
  const script = '"$@"; echo "code $?"; stty -a'
  const args = ['-c', script, 'sh', process.execPath, await chatProgram(), JSON.stringify({ root })]
  const pty = openPty('/bin/sh', args, { columns: 80, rows: 30, cwd: root })
  await pty.until(IDLE)
  pty.write('some text')
  await pty.until('> some text')
  pty.write('\u0003')
  await pty.until((rows) => rows.includes('>'))
  pty.write('\u0003')
  await pty.until('Press Ctrl-C again to exit.')
  pty.write('x\u007f')
  await pty.until(IDLE)
  pty.write('\u0003')
  await pty.until('Press Ctrl-C again to exit.')
  pty.write('\u0003')
  await pty.ended
  const [chat = '', after = ''] = pty.raw().split('code ')
  expect(chat.endsWith('\u001b[J\u001b[?25h\u001b[?2004l')).toBe(true)
  expect(after).toMatch(/^130[^]* icanon [^]* echo /)
})

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends the Turn in the Log and the chat with %i', async (signal, code) => {
  const chat = await openChat({ gated: true })
  chat.say(QUESTIONS)
  await chat.until('waiting for the model')
  chat.signal(signal)
  expect((await chat.ended).code).toBe(code)
  expect(chat.raw()).toMatch(/\p{Cc}\[\?25h\p{Cc}\[\?2004l[\P{Cc}\r\n]*$/u)
  const ended = (await logOf(chat.root)).at(-1)
  expect([ended?.type, ended?.data]).toMatchObject(['turn_ended', { status: 'interrupted' }])
})

test('escape sequences of files, commands and names never reach the terminal', async () => {
  const chat = await openChat({ permission: 'auto' })
  const evil =
    '\u001b]0;title\u0007\u001b]52;c;aGk=\u0007\u001b[2J\u001b[31m\u001bP1$r\u001b\\\\\u009b5n\u202e\u0000\b\u0007\n'
  await writeFile(join(chat.workspace, 'evil.txt'), evil.repeat(3))
  chat.say('Read evil.txt')
  await chat.turns(1)
  chat.say('Run `printf "\\\\033]0;title\\\\007\\\\033[2J"; sleep 0.1; cat evil.txt`')
  await chat.turns(2)
  chat.write(`\u001b[200~pasted ${evil}\u001b[201~\r`)
  await chat.turns(3)
  expect(flat(chat)).toContain('\\u{1b}]0;title')
  // The title of the window is the only other sequence, and contains none.
  const ours =
    /\p{Cc}\[(?:\d+(?:;\d+)*m|\d*[ABCJ]|2K|\?(?:25|2004|2026)[hl]|22;2t)|\p{Cc}\]2;\P{Cc}*\p{Cc}/gu
  expect(chat.raw().replaceAll(ours, '')).not.toMatch(/[^\P{Cc}\r\n]|\p{Cf}/u)
  expect(chat.terminal.bells).toBe(0)
})

test('text typed before a question stays in the draft, and text typed at the question is ignored', async () => {
  const chat = await openChat({ gated: true, chunk: 1000 })
  chat.say('Write "hello" to out.txt')
  await chat.until('waiting for the model')
  chat.write('yes')
  await chat.until('> yes▏')
  chat.signal('SIGUSR2')
  await chat.until('A question …')
  chat.write('yyy\r')
  await chat.until(QUESTION)
  // No caret: keys go to the question.
  expect(chat.terminal.screen()).toContain('> yes')
  chat.write('/undo\r')
  await chat.until('A question …')
  await chat.until(QUESTION)
  chat.write('\u001b')
  await chat.until('✗ write out.txt · denied')
  chat.signal('SIGUSR2')
  await chat.until('> yes')
  await expect(readFile(join(chat.workspace, 'out.txt'))).rejects.toThrow('ENOENT')
})

test('a message of several lines is one message, and arrows recall it', async () => {
  const chat = await openChat()
  chat.write('first\u001b\rsecond\\\rthird\nfourth')
  await chat.until((rows) => rows.join('\n').includes('> first\n  second\n  third\n  fourth'))
  chat.write('\r')
  await chat.turns(1)
  chat.say('日本語 and 👍🏽')
  await chat.turns(2)
  chat.write('\u001b[A\u007f\u007f\u007f')
  await chat.until((rows) => rows.includes('> 日本語 an'))
  chat.write('\u0015ü日\u007f👩‍👩‍👧x\u007f\u007fend')
  await chat.until((rows) => rows.includes('> üend'))
  chat.write('\u001b[B\u001b[A\u001b[A')
  await chat.until((rows) => rows.join('\n').includes('> first\n  second\n  third\n  fourth'))
  expect(messagesIn(await logOf(chat.root))).toEqual([
    'first\nsecond\nthird\nfourth',
    '日本語 and 👍🏽',
  ])
})

test('a Session is left and resumed, and a file change is undone', async () => {
  const chat = await openChat({ permission: 'auto' })
  chat.say('Write "hello" to out.txt')
  await chat.turns(1)
  chat.say('/undo')
  await chat.until('out.txt: removed')
  await expect(readFile(join(chat.workspace, 'out.txt'))).rejects.toThrow('ENOENT')
  chat.say('/permission read-only')
  await chat.until(/^read-only · .*\/help$/m)
  chat.say('/nonsense')
  await chat.until('Unknown command /nonsense')
  chat.say('/quit')
  expect((await chat.ended).code).toBe(0)

  const again = await openChat({ root: chat.root })
  again.say('/sessions')
  await again.until(/› Write "hello" to out\.txt .* 1 Turn/)
  again.write('\r')
  await again.until('● write out.txt · created')
  again.write('\u001b[A')
  await again.until('> Write "hello" to out.txt')
})
