import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Folder } from '../../../src/host/files/files.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { ok } from '../../../src/model/errors.ts'
import type { Frame, FrameToGuest } from '../../../src/model/tether/frame.ts'
import type { InstanceRequest } from '../../../src/model/tether/instance.ts'
import { fileFrameStore } from '../../../src/tether/frames/files/file-store.ts'
import type { FrameStore } from '../../../src/tether/frames/frame-store.ts'
import { fileRecords } from '../../../src/tether/records/files/file-records.ts'
import { Instances } from '../../../src/tether/instances/instances.ts'
import type { InstanceRuntime } from '../../../src/tether/instances/runtime.ts'
import type { Tether } from '../../../src/tether/tether.ts'
import { FakeRuntime } from './fake-runtime.ts'
import { freshFolder } from '../host/folder.ts'
import { envelope } from './host-end.ts'
import { value } from '../log/story.ts'
import { until, virtualClock, type VirtualClock } from '../host/virtual-clock.ts'

/** The Instances of a home, with guests that the test plays and a clock that it advances. */
export interface InstancesPlace {
  readonly instances: Instances
  readonly runtime: FakeRuntime
  readonly clock: VirtualClock
  readonly root: string
  readonly home: string
  readonly notes: Readonly<Record<string, unknown>>[]
}

export interface InstancesOptions {
  readonly root?: string
  /** Folders that programs may choose. */
  readonly roots?: readonly string[]
  readonly runtime?: InstanceRuntime
  /** The home, if it is not on the disk of the machine. */
  readonly folder?: Folder
  /** Default: files in the home. */
  readonly frames?: FrameStore
  /** Is not closed at the end of the test. */
  readonly stays?: true
}

export async function instancesPlace(given: InstancesOptions = {}): Promise<InstancesPlace> {
  const root = given.root ?? (await freshFolder())
  const home = join(root, 'home')
  const folders = value(await openHome(home))
  const clock = virtualClock()
  const runtime = new FakeRuntime()
  const notes: Readonly<Record<string, unknown>>[] = []
  const ids = systemIds(clock)
  const own = { home: given.folder ?? folders.own, clock, ids }
  const frames = given.frames ?? fileFrameStore(own)
  const instances = value(
    await Instances.open({
      ...own,
      path: home,
      frames,
      records: fileRecords({ ...own, frames }),
      runtime: given.runtime ?? runtime,
      roots: async () => ok(given.roots ?? []),
      note: (entry) => void notes.push(entry),
    }),
  )
  onTestFinished(async () => {
    if (given.stays !== true) await instances.close()
    await folders.close()
  })
  return { instances, runtime, clock, root, home, notes }
}

/** An Instance called `a`, with a workspace of its own unless the request says otherwise. */
export async function withInstance(request: InstanceRequest = {}, root?: string) {
  const place = await instancesPlace(root === undefined ? {} : { root })
  const created = await place.instances.create({ handle: 'a', ...request }, 'operator')
  return { ...place, id: value(created).id }
}

export async function makeWorkspace(root: string, name = 'workspace'): Promise<string> {
  const path = join(root, name)
  await mkdir(path, { recursive: true })
  return path
}

export function message(msg_id: string, more: object = {}, id = 'default'): FrameToGuest {
  const payload = { text: 'Hello', ...more }
  return { ...envelope(msg_id, id), type: 'user.message', payload }
}

export function cancel(msg_id: string, in_reply_to?: string): FrameToGuest {
  const named = in_reply_to === undefined ? {} : { in_reply_to }
  return { ...envelope(msg_id, 'default'), ...named, type: 'control.cancel', payload: {} }
}

/** The frames that end a message. */
async function endsOf(instances: Tether, msg_id: string, name = 'a'): Promise<Frame[]> {
  const types = ['assistant.done', 'error']
  return [
    ...value(await instances.poll(name, { types, reply_to_msg_id: msg_id, after_seq: 0 })).frames,
  ]
}

/** The kinds of error that end a message, or the texts of its answer. */
export async function ends(instances: Tether, msg_id: string): Promise<string[]> {
  return (await endsOf(instances, msg_id)).map((frame) =>
    frame.type === 'error'
      ? frame.payload.kind
      : frame.type === 'assistant.done'
        ? frame.payload.text
        : '',
  )
}

/** Waits for an answer, whatever it is. */
export async function ended(instances: Tether, msg_id: string): Promise<string[]> {
  for (;;) {
    const found = await ends(instances, msg_id)
    if (found.length > 0) return found
    await new Promise((resolve) => void setImmediate(resolve))
  }
}

/** Waits until an Instance is in a state. */
export async function inState(instances: Tether, state: string, name = 'a'): Promise<void> {
  for (;;) {
    if (value(await instances.info(name)).state === state) return
    await new Promise((resolve) => void setImmediate(resolve))
  }
}

/** Waits until as many guests were started. */
export function guests(runtime: FakeRuntime, count: number): Promise<void> {
  return until(() => runtime.guests.length >= count)
}
