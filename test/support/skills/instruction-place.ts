import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { identifyFolder } from '../../../src/host/files/folder-identity.ts'
import { openConfined } from '../../../src/host/files/confined-files.ts'
import { FileFailure, fileFailure } from '../../../src/host/files/files.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { trustInstructions } from '../../../src/host/trust.ts'
import type { EventData } from '../../../src/model/events/event.ts'
import type { InstructionsSetting } from '../../../src/model/modes.ts'
import type { Session } from '../../../src/session/session.ts'
import { workspaceInstructions } from '../../../src/session/workspace/instructions.ts'
import { freshFolder } from '../host/folder.ts'
import { withChanges } from '../session/harness-parts.ts'
import { value } from '../log/story.ts'
import {
  sha256,
  visionPlace,
  type VisionOptions,
  type VisionPlace,
} from '../resources/vision-place.ts'
import type { Way } from '../providers/ways.ts'

export interface InstructionPlace extends VisionPlace {
  readonly home: string
  /** Writes a file of the workspace, and trusts its content as a person would. */
  readonly trusted: (path: string, text: string) => Promise<void>
  /** Writes a file of the workspace. */
  readonly written: (path: string, text: string | Buffer) => Promise<void>
  readonly removed: (path: string) => Promise<void>
}

interface PlaceOptions extends Pick<VisionOptions, 'changes' | 'vendor'> {
  readonly setting: InstructionsSetting
  readonly root?: string
  readonly folder?: string
  /** A path that the system refuses to open, also for root. */
  readonly unreadable?: string
}

/** A workspace with project instructions, whose model keeps every request. */
export async function instructionPlace(way: Way, options: PlaceOptions): Promise<InstructionPlace> {
  const { setting, folder = '', root = await freshFolder(), unreadable, ...rest } = options
  const workspace = join(root, 'workspace')
  const home = join(root, 'home')
  await mkdir(join(workspace, folder), { recursive: true })
  const homeFolders = value(await openHome(home))
  const refuse = [home, join(workspace, '.hawser')]
  const confined = value(await openConfined(workspace, { refuse }))
  const files: typeof confined = {
    ...confined,
    read: async (path, limit) =>
      path === unreadable
        ? { ok: false, error: fileFailure(new FileFailure('EACCES', 'denied'), `read ${path}`) }
        : confined.read(path, limit),
  }
  onTestFinished(async () => {
    await Promise.all([homeFolders.close(), files.close()])
  })
  const settings = { settings: { instructions: setting } }
  const instructions = workspaceInstructions({ workspace, home: homeFolders.own, files, settings })
  const own = { workspace: { folder }, tools: { instructions } }
  const changes = withChanges(own, options.changes ?? {})
  const at = await visionPlace(way, { ...rest, root, changes })
  const written = async (path: string, text: string | Buffer) => {
    await mkdir(dirname(join(workspace, path)), { recursive: true })
    await writeFile(join(workspace, path), text)
  }
  return {
    ...at,
    home,
    written,
    removed: (path) => rm(join(workspace, path), { recursive: true }),
    trusted: async (path, text) => {
      await written(path, text)
      const content = { path, sha256: sha256(Buffer.from(text)), at: '2026-01-31T12:00:00.000Z' }
      const ids = systemIds(systemClock)
      const here = value(await identifyFolder(files.root))
      value(await trustInstructions(homeFolders.own, here, [content], ids))
    },
  }
}

/** Every list of project instructions that late context named, without hashes and blobs. */
export function namedIn(session: Session): string[][] {
  return session.events.flatMap((event) =>
    event.type === 'late_context' ? [(event.data.instructions ?? []).map(wordsOf)] : [],
  )
}

type Named = NonNullable<EventData<'late_context'>['instructions']>[number]

function wordsOf({ path, bytes, refused, changed, blob, truncated, withheld }: Named): string {
  return [
    path,
    ...(refused === undefined ? [String(bytes)] : [refused]),
    ...(changed === true ? ['changed'] : []),
    ...(blob === undefined ? [] : ['loaded']),
    ...(truncated === true ? ['truncated'] : []),
    ...(withheld === undefined ? [] : [withheld]),
  ].join(' ')
}

/** Path and reason of every text that was loaded. */
export function loadedIn(session: Session): string[] {
  return session.events.flatMap((event) =>
    event.type === 'project_instructions' ? [`${event.data.path} ${event.data.reason}`] : [],
  )
}
