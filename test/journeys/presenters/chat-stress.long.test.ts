import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { hasTmux } from '../../support/cli/tmux.ts'
import { CHAT, tmuxChat, type TmuxChat } from '../../support/presenters/tmux-chat.ts'
import type { ScriptedTurns } from '../../support/presenters/scripted-model.ts'

const tmuxMissing = !(await hasTmux())

const PARTS = Array.from({ length: 60 }, (_, at) => `Part ${at} of 日本語 🚢.`)
const WIDTHS = [40, 200, 60, 41, 120, 40, 199, 80]
const TURNS: ScriptedTurns = {
  'Tell me all': [{ text: PARTS.join('\n\n'), piece: 5, held: WIDTHS.length }],
  'Wait for me': [{ text: 'The ship waits in the harbour for a long time.', held: true }],
  'Write to the right': [
    {
      text: 'שלום עולם، هذا نص عربي طويل بما يكفي ليلتف حول السطر mixed.\n\n日本語の文章。👩‍👩‍👧‍👦 🇩🇪 end',
    },
  ],
}

/** The process of the chat in this window. */
async function chatPid(chat: TmuxChat): Promise<number> {
  const pid = Number(await chat.fact('#{pane_pid}'))
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return Number(children.trim().split(' ')[0])
}

/** Kills the chat as a power cut would, and waits for the shell. */
async function kill(chat: TmuxChat): Promise<void> {
  process.kill(await chatPid(chat), 'SIGKILL')
  await chat.until('Killed')
  await chat.say('clear')
  await chat.until((rows) => rows[0] === '$')
  await chat.clearHistory()
}

test.skipIf(tmuxMissing)(
  'an answer during which the window changes between 40 and 200 columns shows each part once',
  async () => {
    const chat = await tmuxChat(TURNS, { rows: 24 })
    // Without a spinner, nothing is under way to the terminal when its size changes: no one can undo that.
    await chat.say(`TERM=dumb ${CHAT}`)
    await chat.idle()
    await chat.say('Tell me all')
    for (const columns of WIDTHS) {
      const last = (await chat.model.sentUntilHeld()).trimEnd().split('\n').at(-1) ?? ''
      await chat.until((rows) => rows.includes(last.trimEnd()))
      await chat.resize(columns, 24)
      chat.model.release()
    }
    await chat.idle('Part 59')
    const rows = await chat.history()
    expect(rows.filter((row) => /^Part \d/.test(row))).toEqual(PARTS)
    expect(rows.filter((row) => /answering|▏/.test(row))).toEqual([])
  },
)

test.skipIf(tmuxMissing)(
  'a terminal of 20 columns, wide characters and text from right to left keep every row in its place',
  async () => {
    const chat = await tmuxChat(TURNS, { columns: 20, rows: 24 })
    await chat.say(CHAT)
    await chat.until(/^ask · /m)
    await chat.say('Write to the right')
    await chat.until('end')
    await chat.until(/^ask · /m)
    await chat.type('日本語 שלום x')
    await chat.until(/^> 日本語 שלום x$/m)
    const [x, y] = (await chat.fact('#{cursor_x} #{cursor_y}')).split(' ').map(Number)
    const rows = await chat.screen()
    expect([x, rows[y ?? 0]]).toEqual([15, '> 日本語 שלום x'])
    const draft = rows.filter((row) => row.startsWith('> 日本語'))
    expect(draft.length).toBe(1)
  },
)

test.skipIf(tmuxMissing)(
  'after kill -9 with a queue, a running Turn and a draft, the draft and the queue are back and the Log is true',
  async () => {
    const chat = await tmuxChat(TURNS)
    await chat.say(CHAT)
    await chat.idle()
    await chat.say('Wait for me')
    await chat.until('answering')
    await chat.type('queued')
    await chat.until('> queued▏')
    await chat.press('Tab')
    await chat.until(/^ {2}1\. queued$/m)
    await chat.type('half a ')
    await chat.paste(Array.from({ length: 8 }, (_, at) => `pasted ${at}`).join('\n'))
    await chat.until('> half a [paste 1: 8 lines]▏')
    await stored(chat, 'pasted 7')
    await kill(chat)
    await chat.say('hawser -c')
    await chat.until('1 queued message held')
    await chat.until('> half a [paste 1: 8 lines]')
    await chat.until('The last Turn has not ended')
    await chat.press('C-c')
    await chat.until('Cleared; Up brings it back.')
    chat.model.release()
    // The queue is sent when the person wants it, and ends the Turn that the crash cut off first.
    await chat.press('Tab')
    await chat.until('> queued')
    await chat.until('answering')
    chat.model.release()
    await chat.idle('tokens in')
    await chat.press('C-d')
    await chat.until('Continue with:')
    const events = await chat.events()
    const sent = events.flatMap((event) => (event.type === 'user_message' ? [event.data.text] : []))
    expect(sent).toEqual(['Wait for me', 'queued'])
    const ends = events.flatMap((event) => (event.type === 'turn_ended' ? [event.data.status] : []))
    expect(ends).toEqual(['interrupted', 'completed'])
    await chat.hawser('log', 'verify', 'latest', '--requests')
  },
)

test.skipIf(tmuxMissing)(
  'after kill -9 with the transcript open, the shell reads and echoes, and two commands restore the screen',
  async () => {
    const chat = await tmuxChat(TURNS)
    await chat.say(CHAT)
    await chat.idle()
    await chat.press('C-o')
    await chat.until(/^Transcript/m)
    process.kill(await chatPid(chat), 'SIGKILL')
    await chat.until(/^\$$/m)
    await chat.say('tput rmcup; tput cnorm')
    await chat.say('clear; echo the shell is back')
    await chat.until(/^the shell is back$/m)
    expect(await chat.fact('#{alternate_on} #{cursor_flag}')).toBe('0 1')
  },
)

test.skipIf(tmuxMissing)(
  'a paste of 5 MB is one chip, which Ctrl-C stashes and Up brings back',
  async () => {
    const chat = await tmuxChat(TURNS)
    await chat.say(`${CHAT} --permission read-only`)
    await chat.until(/\/help$/m)
    const text = `${'0123456789'.repeat(10)}\n`.repeat(50_000)
    await chat.paste(text)
    await chat.until('> [paste 1: 50000 lines]')
    await chat.press('C-c')
    await chat.until('Cleared; Up brings it back.')
    await chat.press('Up')
    await chat.until('> [paste 1: 50000 lines]')
    expect((await chat.screen()).join('\n')).not.toContain('0123456789')
  },
)

test.skipIf(tmuxMissing)(
  'in a folder of 100,000 files the input is there at once, and each file is found',
  async () => {
    const chat = await tmuxChat(TURNS)
    for (let folder = 0; folder < 100; folder += 1) {
      const path = join(chat.workspace, `dock${folder}`)
      await mkdir(path)
      const names = Array.from({ length: 1_000 }, (_, at) => join(path, `ship-${folder}-${at}.txt`))
      await Promise.all(names.map((name) => writeFile(name, '')))
    }
    await chat.say(CHAT)
    await chat.idle()
    await chat.type('See @ship-99-999')
    await chat.until(/^› dock99\/ship-99-999\.txt$/m)
    await chat.press('Tab')
    await chat.until('> See @dock99/ship-99-999.txt')
    expect((await chat.screen()).filter((row) => row.startsWith('› '))).toEqual([])
  },
)

/** Waits until the draft with this text is on the disk. */
async function stored(chat: TmuxChat, text: string): Promise<void> {
  const home = join(dirname(chat.workspace), 'home', 'input')
  await expect
    .poll(
      async () => {
        const names = await readdir(home, { recursive: true }).catch(() => [])
        const drafts = names.filter((name) => /draft-.*\.json$/.test(name))
        const texts = drafts.map((name) => readFile(join(home, name), 'utf8').catch(() => ''))
        return (await Promise.all(texts)).join('')
      },
      { timeout: 20_000 },
    )
    .toContain(text)
}
