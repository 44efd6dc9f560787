import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  systemSandbox,
  type Confinement,
  type LongProcess,
  type LongProgram,
  type Sandbox,
} from '../../../src/host/sandbox/sandbox.ts'
import { makeRecords } from '../../support/session/records.ts'
import type { Scene } from '../sandbox/sandbox-scene.ts'

/** A guest under attack from inside: its process, and the places it was given. */
export interface AttackingGuest {
  readonly process: LongProcess
  readonly place: Confinement & { readonly ownHome: string; readonly records: string }
  readonly output: () => string
  /** Resolves when the output contains `text`, or the guest has ended. */
  readonly says: (text: string) => Promise<void>
  /** Resolves to the output when the guest has ended by itself. */
  readonly ended: () => Promise<string>
}

/** What only the guest itself may read, not its tools. */
export const OWN_SECRET = 'secret-of-the-guest-77aa'

const SCRIPT = process.argv[1] ?? ''

/** Starts a guest in that workspace. It may read this script, so that it can run it again. */
export async function startGuest(
  { hawserHome, workspace }: { readonly hawserHome: string; readonly workspace: string },
  argv: LongProgram['argv'] | string,
  sandbox: Sandbox,
  more: Pick<LongProgram, 'withoutSandbox'> = {},
): Promise<AttackingGuest> {
  const ownHome = join(hawserHome, 'instances', workspace.replaceAll('/', '-'), 'home')
  await mkdir(ownHome, { recursive: true, mode: 0o700 })
  const records = await makeRecords(workspace)
  for (const folder of [ownHome, records]) {
    await writeFile(join(folder, 'own'), OWN_SECRET)
  }
  const place = {
    workspace,
    home: hawserHome,
    ownHome,
    records,
    guest: true,
    writable: 'workspace',
    protectedPaths: ['AGENTS.md'],
    readable: [SCRIPT],
  } as const
  let output = ''
  let heard = () => {}
  const started = await sandbox.start(place, {
    argv: typeof argv === 'string' ? ['/bin/bash', '-c', argv] : argv,
    env: { LC_ALL: 'C', HAWSER_HOME: ownHome },
    descriptors: ['frames', 'relay'],
    ...more,
    onOutput: (chunk) => {
      output += chunk.toString()
      heard()
    },
  })
  if (!started.ok) throw new Error(started.error.message)
  const guest = started.value
  let isOver = false
  const over = guest.ending.then(() => {
    isOver = true
    heard()
  })
  return {
    process: guest,
    place,
    output: () => output,
    says: async (text) => {
      const isHeard = () => isOver || output.includes(text)
      while (!isHeard()) {
        await new Promise<void>((resolve) => void (heard = resolve))
      }
    },
    ended: async () => {
      await over
      return output
    },
  }
}

/** It runs its self-test once. */
export const GUEST_SANDBOX = systemSandbox()

/** Starts a guest with that bash script in a new workspace of the scene. */
export async function guestIn(scene: Scene, script: string): Promise<AttackingGuest> {
  const { path } = await scene.workspace()
  return startGuest({ hawserHome: scene.hawserHome, workspace: path }, script, GUEST_SANDBOX)
}

/** The command with which a guest runs a script in a sandbox of its own; see guest-child.ts. */
export function toolCommand(script: string): string {
  const words = [process.execPath, SCRIPT, 'none', 'tool', script].map((word) =>
    word.replaceAll("'", `'\\''`),
  )
  return `'${words.join("' '")}'`
}
