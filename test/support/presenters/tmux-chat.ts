import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { CHOICE, CONFIRMATION, QUESTION, type Pressing } from '../cli/question.ts'
import { CANARY_KEY } from '../host/canary.ts'
import { bundleScript } from '../host/bundle-script.ts'
import { freshFolder } from '../host/folder.ts'
import { openTmux, type TmuxWindow } from '../cli/tmux.ts'
import { scriptedModel, type ScriptedModel, type ScriptedTurns } from './scripted-model.ts'

/** A shell in tmux with the program as `hawser`, and a scripted model over a real socket. */
export interface TmuxChat extends TmuxWindow {
  readonly model: ScriptedModel
  readonly workspace: string
  /** Types a line and presses Enter. */
  say(text: string): Promise<void>
  /** Waits until the chat accepts input and this text is visible. */
  idle(text?: string): Promise<void>
  /** Confirms the choice of the question with this text, and types words into its field. */
  choose(text: string, words?: string): Promise<void>
  /** Runs the program beside the chat, and returns its output. */
  hawser(...args: readonly string[]): Promise<string>
  /** The Events of the latest Session. */
  events(): Promise<readonly WholeEvent[]>
}

/** The chat waits for input: the status line is the last row, and nothing runs. */
const IDLE = /^(?:plan|read-only|ask|auto) · .*\/help$/m
export const CHAT = 'hawser chat --provider anthropic --model claude-haiku-4-5'

export async function tmuxChat(
  turns: ScriptedTurns,
  {
    columns = 80,
    rows = 40,
    env = {},
  }: { columns?: number; rows?: number; env?: Record<string, string> } = {},
): Promise<TmuxChat> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  const model = await scriptedModel(turns)
  onTestFinished(() => model.close())
  const folder = await programFolder()
  const all = {
    PATH: `${folder}:${process.env['PATH'] ?? ''}`,
    HOME: root,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    HAWSER_HOME: join(root, 'home'),
    ANTHROPIC_BASE_URL: model.baseUrl,
    ANTHROPIC_API_KEY: CANARY_KEY,
    ...env,
  }
  const command = "PS1='$ ' exec bash --norc --noprofile -i"
  const window = await openTmux({ columns, rows, cwd: workspace, env: all, command })
  const hawser = async (...args: readonly string[]) => {
    const options = { cwd: workspace, env: all, maxBuffer: 64 * 1024 * 1024 }
    return (await promisify(execFile)(join(folder, 'hawser'), [...args], options)).stdout
  }
  await window.until(/^\$/m)
  return {
    ...window,
    model,
    workspace,
    hawser,
    say: async (text) => {
      await window.type(text)
      await window.press('Enter')
    },
    idle: (text = '') =>
      window.until((shown) => IDLE.test(shown.join('\n')) && shown.join('\n').includes(text)),
    choose: async (text, words) => {
      await window.until(QUESTION)
      const shown = await window.screen()
      const row = shown.find((one) => one.includes(text)) ?? ''
      const number = /^\s*(\d) {2}/.exec(row)?.[1]
      if (number === undefined) throw new Error(`no choice ${text}:\n${shown.join('\n')}`)
      const chosen = new RegExp(`^❯ ${number} `, 'm')
      await pressUntil(window, number, CHOICE, (now) => chosen.test(now.join('\n')))
      await pressUntil(window, 'Enter', CONFIRMATION, (now) => !now.join('\n').includes(QUESTION))
      if (words !== undefined) {
        await window.type(words)
        await window.until(`${words}▏`)
      }
      await pressUntil(
        window,
        'Enter',
        CONFIRMATION,
        (now) => !now.join('\n').includes('Enter confirms'),
      )
    },
    events: async () => {
      const lines = (await hawser('log', 'show', 'latest', '--json')).trim().split('\n')
      return lines.map((line) => JSON.parse(line) as WholeEvent)
    },
  }
}

let making: Promise<string> | undefined

/** A folder for `PATH` with the program, bundled once. */
function programFolder(): Promise<string> {
  making ??= (async () => {
    const folder = await freshFolder()
    const script = new URL('../../../bin/hawser.ts', import.meta.url)
    const program = await bundleScript(script, folder, { inParts: true })
    const starter = join(folder, 'hawser')
    await writeFile(starter, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
    await chmod(starter, 0o755)
    return folder
  })()
  return making
}

async function pressUntil(
  window: TmuxWindow,
  key: string,
  { afterMs, againMs }: Pressing,
  done: (rows: readonly string[]) => boolean,
): Promise<void> {
  if (done(await window.screen())) return
  await delay(afterMs)
  await window.press(key)
  const again = setInterval(() => void window.press(key), againMs)
  await window.until(done).finally(() => clearInterval(again))
}
