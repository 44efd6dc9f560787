import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { hasTmux } from '../../support/cli/tmux.ts'
import { CHAT, tmuxChat, type TmuxChat } from '../../support/presenters/tmux-chat.ts'
import type { ScriptedTurns } from '../../support/presenters/scripted-model.ts'

const tmuxMissing = !(await hasTmux())

const ANSWER = `# The harbour

- [x] read
- [ ] moor

\`\`\`ts
const berth = 12 // free
\`\`\`

| file | purpose | lines |
|---|---|--:|
| src/harbour.ts | assigns ships to berths, checks the tide, and calls the pilot of the day | 120 |
`
const TURNS: ScriptedTurns = {
  'Explain the harbour': [{ text: ANSWER, piece: 7 }],
  'Plan the day': [
    {
      calls: [
        {
          name: 'update_plan',
          input: {
            entries: [
              { content: 'Read the tide', status: 'completed' },
              { content: 'Moor', status: 'in_progress' },
            ],
          },
        },
      ],
    },
    { text: 'The day is **planned**.' },
  ],
  'Write it': [
    { calls: [{ name: 'write', input: { path: 'a.txt', content: 'hi' } }] },
    { text: 'It is written.' },
  ],
}
const RENDERED = ['The harbour', '', '[x] read', '[ ] moor', '', 'ts', 'const berth = 12 // free']
const RUN = 'hawser run --provider anthropic --model claude-haiku-4-5'

test.skipIf(tmuxMissing).each([60, 80, 120])(
  'at %i columns an answer has no signs of Markdown, code that can be copied, and a table that fits',
  async (columns) => {
    const chat = await tmuxChat(TURNS, { columns })
    await chat.say(CHAT)
    await chat.idle()
    await chat.say('Explain the harbour')
    await chat.idle('tokens in')
    const rows = await chat.history()
    const from = rows.indexOf('The harbour')
    expect(rows.slice(from, from + RENDERED.length)).toEqual(RENDERED)
    expect(rows.some((row) => /^file +│ purpose +│ lines$/.test(row))).toBe(true)
    expect(rows.some((row) => /^src\/harbour\.ts │ assigns ships.*│ +120$/.test(row))).toBe(true)
    expect(await coloured(chat)).toMatch(/\[35m(?:.\[49m)?const/)
  },
)

test.skipIf(tmuxMissing)(
  'run on a terminal formats the answer and the plan; --plain and a pipe have what the model wrote',
  async () => {
    const chat = await tmuxChat(TURNS)
    await chat.say(`${RUN} 'Explain the harbour'; echo 'over 1'`)
    await chat.until(/^over 1$/m)
    const rows = await chat.history()
    const from = rows.indexOf('The harbour')
    expect(rows.slice(from, from + RENDERED.length)).toEqual(RENDERED)
    await chat.say('clear')
    await chat.say(`${RUN} 'Plan the day'; echo 'over 2'`)
    await chat.until(/^over 2$/m)
    const text = (await chat.screen()).join('\n')
    expect(text).toContain('[x] Read the tide\n[>] Moor\nThe day is planned.\n')
    expect(text).not.toContain('update_plan')
    await chat.say('clear')
    await chat.say(`${RUN} --plain 'Explain the harbour'; echo 'over 3'`)
    await chat.until(/^over 3$/m)
    expect(await chat.screen()).toEqual(expect.arrayContaining(['# The harbour', '```ts']))
    await chat.say('clear')
    await chat.say(`${RUN} 'Explain the harbour' 2>/dev/null | cat; echo 'over 4'`)
    await chat.until(/^over 4$/m)
    expect(await chat.screen()).toEqual(expect.arrayContaining(['# The harbour', '```ts']))
  },
)

test.skipIf(tmuxMissing)(
  'a theme is shown while it is chosen, is stored when it is, and is as before when it is not',
  async () => {
    const chat = await tmuxChat(TURNS, { env: { COLORFGBG: '15;0' } })
    const config = join(dirname(chat.workspace), 'home', 'config.json')
    await chat.say(CHAT)
    await chat.idle()
    await chat.say('/theme')
    await chat.until(/^› auto /m)
    await chat.press('Down', 'Down', 'Down')
    await chat.until(/^› high-contrast /m)
    await chat.press('Escape')
    await chat.idle()
    await expect(readFile(config)).rejects.toThrow('ENOENT')
    await chat.say('/theme')
    await chat.until(/^› auto /m)
    await chat.press('Up')
    await chat.until(/^› none /m)
    await chat.press('Enter')
    await chat.idle('Theme: none.')
    expect(JSON.parse(await readFile(config, 'utf8'))).toEqual({ display: { theme: 'none' } })
    await chat.say('Explain the harbour')
    await chat.idle('tokens in')
    expect(await coloured(chat)).not.toMatch(/\[3[1-6]m/)
  },
)

test.skipIf(tmuxMissing).each([
  ['NO_COLOR=1', /\[\d/],
  ['TERM=dumb', /\[\d/],
  ['TERM=xterm COLORFGBG=0;15', /8;[25];/],
])('with %s the chat shows everything, and no colour that there is not', async (env, absent) => {
  const chat = await tmuxChat(TURNS)
  await chat.say(`env '${env.replace(' ', "' '")}' ${CHAT}`)
  await chat.idle()
  await chat.say('Explain the harbour')
  await chat.idle('tokens in')
  const rows = await chat.history()
  const from = rows.indexOf('The harbour')
  expect(rows.slice(from, from + RENDERED.length)).toEqual(RENDERED)
  await chat.say('Write it')
  await chat.choose('Yes, once')
  await chat.idle('It is written.')
  expect(await coloured(chat)).not.toMatch(absent)
})

test.skipIf(tmuxMissing)(
  'plain, the chat has nothing but lines that stay, the input and a question, and no colour',
  async () => {
    const chat = await tmuxChat(TURNS)
    await chat.say(`${CHAT} --plain`)
    await chat.until((rows) => rows.includes('>'))
    await chat.type('/th')
    await chat.until('> /th')
    await chat.press('C-c')
    await chat.until('Cleared; Up brings it back.')
    await chat.say('Explain the harbour')
    await chat.until('tokens in')
    await chat.say('Write it')
    await chat.choose('Yes, once')
    await chat.until('It is written.')
    await chat.until((rows) => rows.filter((row) => row.includes('tokens in')).length === 2)
    const rows = await chat.history()
    expect(rows.filter((row) => /^(?:ask|auto) · |answering|waiting for|›/.test(row))).toEqual([])
    expect(rows.slice(rows.indexOf('> Explain the harbour')).join('\n')).toContain(
      RENDERED.join('\n'),
    )
    expect(await coloured(chat)).not.toContain('\u001b[')
    // Nothing shows whether the Turn has ended, so not Ctrl-D, which a running Turn refuses.
    await chat.say('/exit')
    await chat.until('Continue with:')
  },
)

/** What is visible, with its colours. */
async function coloured(chat: TmuxChat): Promise<string> {
  return (await chat.colours()).join('\n')
}
