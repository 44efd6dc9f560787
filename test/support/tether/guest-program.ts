import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { ProgramFiles } from '../../../src/host/process/own-program.ts'
import { systemSandbox, type LongProcess } from '../../../src/host/sandbox/sandbox.ts'
import type { Result } from '../../../src/model/errors.ts'
import type { GuestStart } from '../../../src/model/tether/guest-line.ts'
import { MessageBook } from '../../../src/tether/server/message-book.ts'
import { GuestHost, type GuestHostParts } from '../../../src/tether/server/guest-host.ts'
import { GuestLogs } from '../../../src/tether/server/guest-logs.ts'
import { launchGuest } from '../../../src/tether/server/launch-guest.ts'
import type { FrameToHost, ImageReference } from '../../../src/model/tether/frame.ts'
import type { TerminalFrame } from '../../../src/tether/frames/guest-frames.ts'
import { guestLogsIn } from './guest-logs.ts'
import { envelope } from './host-end.ts'
import { makeRecords } from '../session/records.ts'

/** Its self-test runs once. */
const sandbox = systemSandbox()

const MOST_OUTPUT = 1_000_000

/** A real guest in its sandbox, and the server's side of it. */
export interface GuestPlay {
  readonly root: string
  readonly workspace: string
  readonly host: GuestHost
  readonly frames: FrameToHost[]
  readonly notes: Readonly<Record<string, unknown>>[]
  readonly output: () => string
  readonly send: (msg_id: string, text: string, images?: readonly ImageReference[]) => Result<void>
  readonly ended: (msg_id: string) => Promise<TerminalFrame>
  readonly until: (holds: () => boolean) => Promise<void>
}

export interface PlayOptions {
  readonly root: string
  readonly start?: Partial<GuestStart>
  readonly book?: MessageBook
  readonly relay?: (socket: Duplex) => ReturnType<GuestHostParts['relay']>
  readonly program: ProgramFiles
  readonly onFrame?: (frame: FrameToHost) => void
  /** Called with the process as soon as it was started. */
  readonly onLaunch?: (process: LongProcess) => void
}

/** The folders of an Instance below `root`: its workspace, the server's home, and the guest's own in it. */
export async function instanceFolders(root: string) {
  const workspace = join(root, 'workspace')
  const home = join(root, 'hawser')
  const ownHome = join(home, 'instances/inst_1/home')
  const heads = join(home, 'instances/inst_1/heads')
  for (const path of [workspace, ownHome, heads])
    await mkdir(path, { recursive: true, mode: 0o700 })
  const records = await makeRecords(workspace)
  return { workspace, home, ownHome, heads, records }
}

/** Fails with the error of `GuestHost.start`. */
export async function startGuest(options: PlayOptions): Promise<Result<GuestPlay>> {
  const { root, program } = options
  const { workspace, home, ownHome, heads, records } = await instanceFolders(root)
  const ownHeads = await diskFolder(heads)
  const ids = systemIds(systemClock)
  const frames: FrameToHost[] = []
  const notes: Readonly<Record<string, unknown>>[] = []
  const waiting = new Set<() => void>()
  let output = ''
  const look = () => {
    for (const one of waiting) one()
  }
  const started = await GuestHost.start({
    start: {
      instance: 'inst_1',
      workspace,
      provider: 'rehearsal',
      model: 'rehearsal',
      permission_mode: 'auto',
      replay: 'window',
      images: true,
      ...options.start,
    },
    launch: async () => {
      const launched = await launchGuest(sandbox, {
        workspace,
        home,
        ownHome,
        records,
        program,
        onOutput: (chunk) => {
          // A guest may print without end.
          output = (output + chunk.toString()).slice(-MOST_OUTPUT)
        },
      })
      if (launched.ok) options.onLaunch?.(launched.value)
      return launched
    },
    relay: options.relay ?? (() => ({ close: () => {} })),
    logs: new GuestLogs(guestLogsIn({ instance: 'inst_1', workspace, heads: ownHeads, ids })),
    book: options.book ?? new MessageBook(),
    clock: systemClock,
    onFrame: (frame) => {
      frames.push(frame)
      options.onFrame?.(frame)
      look()
    },
    note: (entry) => void notes.push(entry),
  })
  if (!started.ok) {
    await ownHeads.close()
    const { error } = started
    return { ok: false, error: { ...error, message: `${error.message} ${output}` } }
  }
  const host = started.value
  const over = host.ended.then(async (ending) => {
    await ownHeads.close()
    return ending
  })
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (!holds()) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      void over.then((ending) => {
        check()
        reject(new Error(`the guest ended: ${JSON.stringify(ending)} ${output}`))
      })
      check()
    })
  const ends = (msg_id: string) =>
    frames.filter((one) => one.in_reply_to === msg_id).find(isTerminal)
  const play: GuestPlay = {
    root,
    workspace,
    host,
    frames,
    notes,
    output: () => output,
    send: (msg_id, text, images) =>
      host.send({
        ...envelope(msg_id, 'default'),
        type: 'user.message',
        payload: { text, ...(images === undefined ? {} : { images }) },
      }),
    ended: async (msg_id) => {
      await until(() => ends(msg_id) !== undefined)
      const end = ends(msg_id)
      if (end === undefined) throw new Error('no end')
      return end
    },
    until,
  }
  return { ok: true, value: play }
}

function isTerminal(frame: FrameToHost): frame is TerminalFrame {
  return frame.type === 'assistant.done' || frame.type === 'error'
}
