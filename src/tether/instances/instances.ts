import { join } from 'node:path'
import type { Clock } from '../../host/clock.ts'
import { asResult, ifPossible, ifThere, type Folder } from '../../host/files/files.ts'
import { removeTree } from '../../host/files/remove-tree.ts'
import type { Ids } from '../../host/ids.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { InstanceId } from '../../model/ids.ts'
import type { FrameToGuest, ImageReference } from '../../model/tether/frame.ts'
import type { InstanceRecord, InstanceRequest } from '../../model/tether/instance.ts'
import { noSuchInstance } from '../instance-name.ts'
import type { LiveFrame, PollOptions } from '../frames/frame-log.ts'
import type { FrameFilter, FramePage, FrameQuery } from '../frames/frame-query.ts'
import type { FrameStore } from '../frames/frame-store.ts'
import type { GuestRecords } from '../records/guest-records.ts'
import { PollPlaces } from '../frames/frame-waiters.ts'
import type {
  AcceptedFrame,
  InstanceAct,
  InstanceCreator,
  InstanceInfo,
  StoredImage,
  Tether,
} from '../tether.ts'
import { disabledError, Instance } from './instance.ts'
import { readImage, storeImage, unfitImage } from './instance-images.ts'
import { InstanceRegister } from './register.ts'
import { checkedRequest } from './request-check.ts'
import type { InstanceRuntime } from './runtime.ts'

export interface InstancesParts {
  /** `$HAWSER_HOME`, and its path. */
  readonly home: Folder
  readonly path: string
  readonly clock: Clock
  readonly ids: Ids
  readonly frames: FrameStore
  readonly records: GuestRecords
  readonly runtime: InstanceRuntime
  /** Folders below which programs may choose workspaces, as set now. */
  readonly roots: () => Promise<Result<readonly string[]>>
  /** For the log of the server: never contains texts of messages. */
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
}

const FOLDER = 'instances'
const UNENDED = 'unended'
const DELETED = 'deleted-'
/** Instances that are started at once for what an earlier server left. */
const RECOVERED_AT_ONCE = 4
/** How long guests may take to end when the server stops. */
const GRACE_MS = 5_000

interface Folders {
  readonly instances: Folder
  readonly unendedFolder: Folder
}

/** The Instances of a home, in this process. Only one process may have them open; see ADR 25. */
export class Instances implements Tether {
  readonly #parts: InstancesParts
  readonly #folders: Folders
  readonly #register: InstanceRegister
  readonly #markedNames: Set<string>
  readonly #places = new PollPlaces()
  readonly #open = new Map<InstanceId, Instance>()
  /** Resolves when what an earlier server left is running or has ended. */
  readonly recovery: Promise<void>
  #isClosed = false

  private constructor(
    parts: InstancesParts,
    folders: Folders,
    register: InstanceRegister,
    marked: readonly string[],
  ) {
    this.#parts = parts
    this.#folders = folders
    this.#register = register
    this.#markedNames = new Set(marked)
    this.recovery = this.#recover(marked)
  }

  /** Reads the register and one folder, however many Instances there are. */
  static async open(parts: InstancesParts): Promise<Result<Instances>> {
    return asResult('open the Instances', async () => {
      const instances = await parts.home.folder(FOLDER, 'create')
      const unendedFolder = await instances.folder(UNENDED, 'create')
      const close = () => Promise.all([instances.close(), unendedFolder.close()])
      const register = await InstanceRegister.open({ ...parts, folder: instances })
      if (!register.ok) {
        await close()
        return register
      }
      const marked = await unendedFolder.names()
      return ok(new Instances(parts, { instances, unendedFolder }, register.value, marked))
    })
  }

  async create(request: InstanceRequest, by: InstanceCreator): Promise<Result<InstanceInfo>> {
    if (this.#isClosed) return stopping()
    const checked = await checkedRequest(request, by, this.#parts)
    if (!checked.ok) return checked
    const created = await this.#register.create(checked.value.request, checked.value.choice)
    if (!created.ok) return created
    const folder = await this.#folder(created.value.id, 'create')
    if (!folder.ok) return folder
    await ifPossible(folder.value.close())
    return ok(await this.#instance(created.value.id).info())
  }

  async list(): Promise<Result<readonly InstanceInfo[]>> {
    if (this.#isClosed) return stopping()
    const infos: InstanceInfo[] = []
    for (const { id } of this.#register.all) infos.push(await this.#instance(id).info())
    return ok(infos)
  }

  async info(name: string): Promise<Result<InstanceInfo>> {
    const found = this.#find(name)
    return found.ok ? ok(await found.value.info()) : found
  }

  async act(name: string, act: InstanceAct): Promise<Result<InstanceInfo>> {
    const found = this.#find(name)
    if (!found.ok) return found
    const done = await this.#do(found.value, act)
    return done.ok ? this.info(found.value.id) : done
  }

  async map(name: string, workspace: string | null): Promise<Result<InstanceInfo>> {
    const found = this.#find(name)
    if (!found.ok) return found
    const { id } = found.value
    const checked = await checkedRequest({ workspace }, 'operator', this.#parts)
    if (!checked.ok) return checked
    const { request, choice } = checked.value
    const mapped = await found.value.map(() => this.#register.update(id, request, choice))
    if (!mapped.ok) return mapped
    this.#parts.note({ event: 'workspace_mapped', instance: id })
    return this.info(id)
  }

  async delete(name: string): Promise<Result<InstanceId>> {
    const found = this.#find(name)
    if (!found.ok) return found
    const { id } = found.value
    // Nothing can arrive from here on, and readers still see how its messages end.
    const off = await this.#register.update(id, { enabled: false })
    if (!off.ok) return off
    await found.value.shutDown()
    await found.value.close()
    this.#open.delete(id)
    const removed = await this.#register.remove(id)
    if (!removed.ok) return removed
    const deleted = await this.#parts.frames.delete(id)
    if (!deleted.ok) this.#parts.note({ event: 'frames_not_removed', why: deleted.error })
    await this.#removeFolder(id)
    return ok(id)
  }

  async send(name: string, frame: FrameToGuest): Promise<Result<AcceptedFrame>> {
    const found = this.#find(name)
    return found.ok ? found.value.send(frame) : found
  }

  async poll(name: string, query: FrameQuery, options?: PollOptions): Promise<Result<FramePage>> {
    const found = this.#find(name)
    if (!found.ok) return found
    return found.value.queue.log.use((log) => log.poll(query, options))
  }

  async follow(
    name: string,
    after_seq: number | undefined,
    filter: FrameFilter,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<LiveFrame, void, void>>> {
    const found = this.#find(name)
    if (!found.ok) return found
    const held = await found.value.queue.log.hold()
    if (!held.ok) return held
    const { log, release } = held.value
    const live = log.follow(after_seq, filter, signal)
    if (!live.ok) {
      release()
      return live
    }
    signal.addEventListener('abort', release)
    if (signal.aborted) release()
    return ok(releasing(live.value, release))
  }

  async putImage(name: string, image: StoredImage): Promise<Result<ImageReference>> {
    const found = this.#find(name)
    if (!found.ok) return found
    const { enabled, handle } = found.value.record
    if (!enabled) return disabledError(handle)
    const isMapped = await found.value.mappedRecords('open')
    if (!isMapped.ok) return isMapped
    return unfitImage(image) ?? this.#store(found.value, image)
  }

  async image(name: string, blob: string): Promise<Result<StoredImage>> {
    const found = this.#find(name)
    if (!found.ok) return found
    const records = await found.value.mappedRecords('open')
    return records.ok ? readImage(this.#parts.records, records.value, blob) : records
  }

  /** Stops every guest and closes every log. Every later call is refused. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#open.values()].map((instance) => instance.close(GRACE_MS)))
    await this.recovery
    await ifPossible(this.#folders.unendedFolder.close())
    await ifPossible(this.#folders.instances.close())
  }

  async #store(instance: Instance, image: StoredImage): Promise<Result<ImageReference>> {
    const records = await instance.mappedRecords('create')
    return records.ok ? storeImage(this.#parts.records, records.value, image) : records
  }

  async #do(instance: Instance, act: InstanceAct): Promise<Result<unknown>> {
    switch (act) {
      case 'start':
      case 'resume':
        return instance.record.enabled ? instance.start() : disabledError(instance.record.handle)
      case 'pause':
        return ok(await instance.pause())
      case 'stop':
        return ok(await instance.stop())
      case 'enable':
        return this.#register.update(instance.id, { enabled: true })
      case 'disable': {
        const off = await this.#register.update(instance.id, { enabled: false })
        if (off.ok) await instance.shutDown()
        return off
      }
      default:
        return act satisfies never
    }
  }

  #find(name: string): Result<Instance> {
    if (this.#isClosed) return stopping()
    const record = this.#register.find(name)
    return record === undefined ? noSuchInstance(name) : ok(this.#instance(record.id))
  }

  #instance(id: InstanceId): Instance {
    const known = this.#open.get(id)
    if (known !== undefined) return known
    const { path, clock, ids, frames, records, runtime, roots, note } = this.#parts
    let record = this.#recordOf(id)
    const instance = new Instance({
      id,
      // The last one known, if it was deleted meanwhile.
      record: () => (record = this.#register.find(id) ?? record),
      keepFolder: (folder) => this.#register.keepFolder(id, folder),
      roots,
      home: path,
      path: join(path, FOLDER, id),
      folder: (mode) => this.#folder(id, mode),
      unendedFolder: this.#folders.unendedFolder,
      isMarked: this.#markedNames.has(id),
      clock,
      ids,
      places: this.#places,
      frames,
      records,
      runtime,
      note,
    })
    this.#open.set(id, instance)
    return instance
  }

  #recordOf(id: InstanceId): InstanceRecord {
    const record = this.#register.find(id)
    if (record === undefined) throw new Error(`there is no Instance ${id}`)
    return record
  }

  #folder(id: InstanceId, mode: 'open' | 'create'): Promise<Result<Folder>> {
    return asResult('open the folder of the Instance', async () => {
      const { instances } = this.#folders
      const found = await ifThere(instances.folder(id, 'open'))
      if (found !== undefined) return ok(found)
      if (mode === 'create') return ok(await instances.folder(id, 'create'))
      return failed('not_found', 'The Instance was never used.')
    })
  }

  async #recover(marked: readonly string[]): Promise<void> {
    const ids = marked.flatMap((name) => this.#register.find(name)?.id ?? [])
    const next = ids[Symbol.iterator]()
    const work = async () => {
      for (const id of next) if (!this.#isClosed) await this.#instance(id).recover()
    }
    await Promise.all(Array.from({ length: RECOVERED_AT_ONCE }, work))
    for (const name of marked)
      if (this.#register.find(name) === undefined)
        await ifPossible(ifThere(this.#folders.unendedFolder.remove(name)))
  }

  /** Renamed first: what a crash leaves of it is deleted with the next one. */
  async #removeFolder(id: InstanceId): Promise<void> {
    const { instances, unendedFolder } = this.#folders
    await ifPossible(ifThere(unendedFolder.remove(id)))
    await ifPossible(ifThere(instances.rename(id, DELETED + id)))
    for (const name of await instances.names()) {
      if (!name.startsWith(DELETED)) continue
      const gone = await removeTree(join(this.#parts.path, FOLDER, name))
      if (!gone.ok) this.#parts.note({ event: 'instance_not_removed', why: gone.error })
    }
  }
}

/** Frees the log when the reader stops, however it does. */
async function* releasing(
  live: AsyncGenerator<LiveFrame, void, void>,
  release: () => void,
): AsyncGenerator<LiveFrame, void, void> {
  try {
    yield* live
  } finally {
    release()
  }
}

function stopping(): Failed {
  return failed('overloaded', 'The server is stopping.')
}
