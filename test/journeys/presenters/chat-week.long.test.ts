import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasTmux } from '../../support/cli/tmux.ts'
import { png } from '../../support/resources/drawing.ts'
import { CHAT, tmuxChat, type TmuxChat } from '../../support/presenters/tmux-chat.ts'
import type { ScriptedTurns } from '../../support/presenters/scripted-model.ts'

const tmuxMissing = !(await hasTmux())

const STORY = 'The ship left the harbour at dawn. '.repeat(20)

function edit(old_text: string, new_text: string) {
  return { name: 'edit', input: { path: 'notes.txt', edits: [{ old_text, new_text }] } }
}

const TURNS: ScriptedTurns = {
  'Fix the spelling': [
    {
      reasoning: 'The word harbor must become harbour. '.repeat(8),
      text: 'I read both files.',
      calls: [
        { name: 'read', input: { path: 'notes.txt' } },
        { name: 'read', input: { path: 'other.txt' } },
      ],
    },
    { calls: [edit('harbor', 'harbour')] },
    { text: 'The spelling is fixed.' },
  ],
  'Shout it': [{ calls: [edit('berth', 'BERTH')] }, { text: 'Then it stays quiet.' }],
  'Run the checks': [
    { calls: [{ name: 'bash', input: { command: 'npm run check 60' } }] },
    { calls: [{ name: 'bash', input: { command: 'npm run check 70' } }] },
    { text: 'Both checks passed.' },
  ],
  'Try again': [
    { text: 'The second try worked.', refused: { status: 429, retryAfter: 2, times: 2 } },
  ],
  'Tell a story': [
    { text: STORY, held: true, calls: [{ name: 'read', input: { path: 'other.txt' } }] },
    { text: 'The story ends briefly.' },
  ],
  'third, changed': [{ text: 'You said: third, changed' }],
  second: [{ text: 'You said: second' }],
  'Wait for me': [{ text: STORY, held: true }],
  'What is in the picture': [{ text: 'A harbour, in black.' }],
}

test.skipIf(tmuxMissing)(
  'a week of use in tmux: nothing is lost or doubled on the screen, and the Log is whole and true',
  async () => {
    const chat = await tmuxChat(TURNS)
    const notes = join(chat.workspace, 'notes.txt')
    await writeFile(notes, 'the harbor has a berth\n')
    const scripts = { check: "seq -f 'line %g of the check'" }
    await writeFile(join(chat.workspace, 'package.json'), JSON.stringify({ scripts }))
    await writeFile(join(chat.workspace, 'other.txt'), 'two ships\n')
    await writeFile(join(chat.workspace, 'my harbour.png'), png(64, 48, Buffer.alloc(64 * 48 * 3)))
    await chat.say(CHAT)
    await chat.idle()

    await changeFiles(chat, notes)
    await runCommands(chat)
    await steerAndQueue(chat)
    await interrupt(chat)
    await sendPicture(chat)

    await chat.press('C-d')
    await chat.until(/^Continue with: hawser chat --session ses_\w+\n\$/m)
    expectOnce(await chat.history(), [
      '> Fix the spelling',
      '∴ The word harbor must become harbour.',
      'I read both files.',
      '● read notes.txt',
      '● edit notes.txt',
      'The spelling is fixed.',
      '> Shout it',
      'Denied by you',
      'Then it stays quiet.',
      '> Run the checks',
      '● bash npm run check 60',
      '● bash npm run check 70',
      'Both checks passed.',
      '> Try again',
      'The second try worked.',
      '> Tell a story',
      '↳ steering: and be brief',
      'The story ends briefly.',
      '> third, changed',
      'You said: third, changed',
      '> second',
      'You said: second',
      '> Wait for me',
      'Interrupted.',
      '> What is in the picture',
      'A harbour, in black.',
    ])

    await resumeNextDay(chat)
    await openFold(chat)
    await undo(chat, notes)
    await compactAndBack(chat)
    await chat.press('C-d')
    await chat.until(/^Continue with: [^\n]*\n\$/m)

    expect(await messages(chat)).toEqual([
      'Fix the spelling',
      'Shout it',
      'Run the checks',
      'Try again',
      'Tell a story',
      'and be brief',
      'third, changed',
      'second',
      'Wait for me',
      'What is in the picture',
    ])
    const proof = JSON.parse(await chat.hawser('log', 'verify', 'latest', '--requests', '--json'))
    expect(proof).toMatchObject({ ok: true, whole: true, requests: { mismatches: [] } })
  },
)

async function changeFiles(chat: TmuxChat, notes: string): Promise<void> {
  await chat.say('Fix the spelling')
  await chat.until('? edit notes.txt')
  expect(await readFile(notes, 'utf8')).toContain('harbor ')
  await chat.choose('Yes, once')
  await chat.idle('The spelling is fixed.')
  expect(await readFile(notes, 'utf8')).toBe('the harbour has a berth\n')
  await chat.say('Shout it')
  await chat.until('? edit notes.txt')
  await chat.choose('No', 'too loud')
  await chat.idle('Then it stays quiet.')
  expect(await readFile(notes, 'utf8')).toBe('the harbour has a berth\n')
  expect(chat.model.requests.at(-1)?.bytes.toString()).toContain('too loud')
}

async function runCommands(chat: TmuxChat): Promise<void> {
  await chat.say('Run the checks')
  await chat.until('? bash npm run check')
  await chat.choose('Yes, for this Session: commands that start with')
  // The second command is covered by the prefix, so nothing is asked.
  await chat.idle('Both checks passed.')
  await chat.say('Try again')
  await chat.printed(/retry 1 of \d in \d s \(rate limited\)/)
  await chat.idle('The second try worked.')
}

async function steerAndQueue(chat: TmuxChat): Promise<void> {
  await chat.say('Tell a story')
  await chat.until('answering')
  await chat.say('and be brief')
  await chat.until('↳ steering: and be brief')
  for (const text of ['second', 'third']) {
    await chat.type(text)
    await chat.until(`> ${text}▏`)
    await chat.press('Tab')
    await chat.until(new RegExp(`^ {2}\\d\\. ${text}$`, 'm'))
  }
  await chat.say('/queue move 2 1')
  await chat.until(/^ {2}1\. third$/m)
  await chat.say('/queue edit 1')
  await chat.until('> third▏')
  await chat.type(', changed')
  await chat.until('> third, changed▏')
  await chat.press('Tab')
  await chat.until(/^ {2}2\. third, changed$/m)
  await chat.say('/queue move 2 1')
  await chat.until(/^ {2}1\. third, changed$/m)
  chat.model.release()
  await chat.idle('You said: second')
}

async function interrupt(chat: TmuxChat): Promise<void> {
  await chat.say('Wait for me')
  await chat.until('answering')
  await chat.press('Escape')
  await chat.idle('Interrupted.')
  chat.model.release()
}

async function sendPicture(chat: TmuxChat): Promise<void> {
  await chat.paste(`'${join(chat.workspace, 'my harbour.png')}'`)
  await chat.until('[1] my harbour.png · 64×48')
  await chat.say('What is in the picture')
  await chat.idle('A harbour, in black.')
}

async function resumeNextDay(chat: TmuxChat): Promise<void> {
  await chat.say('clear')
  await chat.until((rows) => rows[0] === '$')
  await chat.clearHistory()
  await chat.say('hawser -r')
  await chat.until(/^› Fix the spelling +\d{4}-\d\d-\d\d \d\d:\d\d +9 Turns$/m)
  await chat.until('> What is in the picture')
  await chat.press('Enter')
  await chat.idle('[… 6 earlier Turns]')
  expectOnce(await chat.history(), ['> second', '> Wait for me', '> What is in the picture'])
}

async function openFold(chat: TmuxChat): Promise<void> {
  const before = await chat.screen()
  expect((await chat.history()).join('\n')).not.toContain('line 30 of the check')
  await chat.press('C-o')
  await chat.until(/^Transcript · /m)
  await chat.type('/line 30 of')
  await chat.press('Enter')
  await chat.until('line 30 of the check')
  await chat.press('Escape')
  await chat.idle()
  expect(await chat.screen()).toEqual(before)
}

async function undo(chat: TmuxChat, notes: string): Promise<void> {
  // The commands since then changed nothing, and are known to.
  await chat.say('/undo')
  await chat.idle('notes.txt: restored')
  expect(await readFile(notes, 'utf8')).toBe('the harbor has a berth\n')
}

async function compactAndBack(chat: TmuxChat): Promise<void> {
  await chat.say('/compact')
  await chat.until(/compact(?:ed|ion)/i)
  await chat.idle()
  await chat.say('/compact undo')
  await chat.idle('The last compaction was undone')
}

/** Each text begins exactly one row, and they are in this order. */
function expectOnce(rows: readonly string[], texts: readonly string[]): void {
  const found = rows.flatMap((row) => texts.filter((text) => row.startsWith(text)))
  expect(found, rows.join('\n')).toEqual(texts)
}

async function messages(chat: TmuxChat): Promise<string[]> {
  const events = await chat.events()
  return events.flatMap((event) => (event.type === 'user_message' ? [event.data.text] : []))
}
