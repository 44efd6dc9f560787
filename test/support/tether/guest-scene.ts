import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { workspaceBlobStore } from '../../../src/blobs/workspace-store.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { ok, type Result } from '../../../src/model/errors.ts'
import type { GuestStart } from '../../../src/model/tether/guest-line.ts'
import type { ImageReference } from '../../../src/model/tether/frame.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import { describe } from '../../../src/resources/describe.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { serveGuest } from '../../../src/tether/guest/serve-guest.ts'
import { freshFolder } from '../host/folder.ts'
import { openParts, withChanges, type Changes } from '../session/harness-parts.ts'
import { HostEnd } from './host-end.ts'
import { socketPair } from '../host/socket-pair.ts'
import { value } from '../log/story.ts'

/** A guest in this process, with the rehearsal model, which can see. */
export interface GuestScene {
  readonly root: string
  readonly workspace: string
  readonly host: HostEnd
  readonly resumed: number[]
  /** The bodies of the requests to the model. */
  readonly sent: string[]
  readonly defects: unknown[]
  /** As SIGTERM does. */
  readonly stop: () => void
  readonly served: Promise<Result<void>>
}

export interface SceneOptions {
  /** Of an earlier guest. */
  readonly root?: string
  readonly changes?: Changes
  readonly start?: Partial<GuestStart>
}

export async function guestScene({
  root: given,
  changes = {},
  start = {},
}: SceneOptions = {}): Promise<GuestScene> {
  const root = given ?? (await freshFolder())
  const workspace = join(root, 'workspace')
  await mkdir(workspace, { recursive: true })
  const [ours, theirs] = await socketPair()
  const stop = new AbortController()
  const [resumed, sent, defects]: [number[], string[], unknown[]] = [[], [], []]
  const served = serveGuest({
    socket: theirs,
    open: async ({ replay, images }) => {
      const model = rehearsalProvider({ chunk: 16, delayMs: 0, describe })
      const stream: typeof model.stream = (body, signal) => {
        sent.push(body.toString())
        return model.stream(body, signal)
      }
      const seeing = { ...model, stream }
      const own: Changes = {
        model: { replay, providerOf: async () => ok(seeing), dialectOf: async () => ok(seeing) },
        person: { presenter: 'tether', answers: { images: images ? 4 : 0 } },
      }
      const { parts, close } = await openParts(root, withChanges(own, changes))
      const harness = new Harness(parts)
      const closeAll = async () => {
        await harness.close()
        await close()
      }
      const { ids } = parts.log.place
      return ok({ harness, ids, close: closeAll })
    },
    clock: systemClock,
    onResume: (ms) => void resumed.push(ms),
    signal: stop.signal,
    onDefect: (error) => void defects.push(error),
  })
  const host = new HostEnd(ours)
  onTestFinished(async () => {
    stop.abort()
    await served
    ours.destroy()
  })
  host.write({ ...GUEST_START, workspace, ...start })
  await host.until(() => host.lines.some(({ type }) => type === 'guest.ready'))
  return { root, workspace, host, resumed, sent, defects, stop: () => stop.abort(), served }
}

const GUEST_START: GuestStart = {
  type: 'guest.start',
  instance: 'inst_1',
  workspace: '',
  provider: 'rehearsal',
  model: 'rehearsal',
  permission_mode: 'auto',
  replay: 'window',
  images: true,
}

/** Puts an image into the store that a guest uses, as a host does: its records, or the `.hawser` of a workspace. */
export async function putImage(
  root: string,
  bytes: Buffer,
  instance?: string,
): Promise<ImageReference> {
  const { parts, close } = await openParts(root, {}, instance)
  const blob = value(await parts.log.store.put([bytes], 'image/png'))
  await close()
  return { media_type: 'image/png', blob, size: bytes.length }
}

/** The Events of each Session of a workspace, by its conversation. */
export async function eventsOf(root: string): Promise<Map<string, readonly WholeEvent[]>> {
  const { parts, close } = await openParts(root)
  const harness = new Harness(parts)
  const found = new Map<string, readonly WholeEvent[]>()
  for (const { id, state } of await harness.list()) {
    const session = value(await harness.open(id))
    const key = `${state.tether?.instance ?? ''} ${state.tether?.channel ?? ''}:${state.tether?.id ?? ''}`
    if (found.has(key)) throw new Error(`two Sessions for ${key}`)
    found.set(key, session.events)
    await session.close()
  }
  await close()
  return found
}

/** The text of a blob of a workspace. */
export async function blobText(root: string, key: string): Promise<string> {
  const folder = await diskFolder(join(root, 'workspace/.hawser/blobs'))
  const store = workspaceBlobStore({ folder, ids: systemIds(systemClock), clock: systemClock })
  const bytes = value(await store.get(key))
  await folder.close()
  return bytes.toString()
}
