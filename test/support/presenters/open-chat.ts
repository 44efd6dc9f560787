import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { PermissionMode, SessionMode } from '../../../src/model/modes.ts'
import { bundleScript } from '../host/bundle-script.ts'
import { freshFolder } from '../host/folder.ts'
import { harnessPlace } from '../session/harness-place.ts'
import { openPty, type Pty } from '../cli/pty.ts'
import { value } from '../log/story.ts'

let bundling: Promise<string> | undefined

/** The chat program with the rehearsal model, bundled once into one file so that it starts quickly. */
export function chatProgram(): Promise<string> {
  bundling ??= freshFolder().then((folder) =>
    bundleScript(new URL('../cli/chat-program.ts', import.meta.url), folder),
  )
  return bundling
}

interface ChatOptions {
  readonly columns?: number
  readonly rows?: number
  readonly root?: string
  /** The folder of the person, relative to `root`; the workspace by default. */
  readonly here?: string
  readonly session?: string
  readonly permission?: PermissionMode
  readonly mode?: SessionMode
  readonly chunk?: number
  readonly gated?: boolean
  readonly pace?: number
  readonly clipboard?: string
  readonly pictures?: boolean
  readonly skills?: boolean
}

export interface OpenChat extends Pty {
  readonly root: string
  readonly workspace: string
  /** Types a text and sends it. */
  say(text: string): void
  /** Waits until this many Turns have ended and the chat accepts input. */
  turns(count: number): Promise<void>
}

/** The chat waits for input. */
export const IDLE = /^(plan, read-only|read-only|ask|auto) · .*\/help$/m

/** Starts a chat in a terminal and waits until it accepts input. */
export async function openChat(options: ChatOptions = {}): Promise<OpenChat> {
  const { columns = 80, rows = 30, root = await freshFolder(), ...order } = options
  const workspace = join(root, 'workspace')
  await mkdir(workspace, { recursive: true })
  const args = [await chatProgram(), JSON.stringify({ ...order, root })]
  const pty = openPty(process.execPath, args, { columns, rows, cwd: root })
  await pty.until(IDLE)
  const ended = () => flat(pty).split('tokens in (').length - 1
  return {
    ...pty,
    root,
    workspace,
    say: (text) => pty.write(`${text}\r`),
    turns: (count) => pty.until((shown) => ended() === count && IDLE.test(shown.join('\n'))),
  }
}

/** The whole content of the terminal as one line, because row breaks do not matter. */
export function flat({ terminal }: Pick<Pty, 'terminal'>): string {
  return terminal.all().join(' ').replaceAll(/\s+/g, ' ')
}

export function times(text: string, piece: string): number {
  return text.split(piece).length - 1
}

/** The Events of the only Session. */
export async function logOf(root: string): Promise<readonly WholeEvent[]> {
  const { harness } = await harnessPlace({}, root)
  const [latest] = await harness.list()
  return latest === undefined ? [] : value(await harness.open(latest.id)).events
}

export function messagesIn(events: readonly WholeEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'user_message' ? [event.data.text] : []))
}

/** Presses Ctrl-D, repeatedly while it is refused because the Turn has not ended, and returns the exit code. */
export async function leave(chat: OpenChat): Promise<number> {
  const ended = chat.ended.then(() => true)
  chat.write('\u0004')
  while (!(await Promise.race([ended, delay(100, false)]))) {
    if (flat(chat).includes('A Turn is running')) chat.write('\u0004')
  }
  return (await chat.ended).code
}
