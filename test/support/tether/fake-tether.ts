import { usualExtension } from '../../../src/encoding/magic-bytes.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import type { Folder } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { failed, ok, type Result } from '../../../src/model/errors.ts'
import { BLOB_EXTENSIONS } from '../../../src/model/ids.ts'
import type { FrameToHost } from '../../../src/model/tether/frame.ts'
import type { FrameLog } from '../../../src/tether/frames/frame-log.ts'
import { FRAME_LOG_SETTINGS } from '../../../src/tether/frames/frame-settings.ts'
import { PollPlaces } from '../../../src/tether/frames/frame-waiters.ts'
import { InstanceRegister } from '../../../src/tether/instances/register.ts'
import type {
  InstanceInfo,
  InstanceState,
  StoredImage,
  Tether,
} from '../../../src/tether/tether.ts'
import { value } from '../log/story.ts'
import { openFrames } from './frame-log-place.ts'

/** Instances without guests: the register and frame logs are real, states and images are kept in memory. */
export class FakeTether implements Tether {
  readonly places = new PollPlaces()
  readonly created: { readonly by: string }[] = []
  readonly #home: Folder
  readonly #register: InstanceRegister
  readonly #states = new Map<string, InstanceState>()
  readonly #logs = new Map<string, Promise<FrameLog>>()
  readonly #folders: Folder[] = []
  readonly #images = new Map<string, StoredImage>()

  constructor(home: Folder, register: InstanceRegister) {
    this.#home = home
    this.#register = register
  }

  get imageCount(): number {
    return this.#images.size
  }

  async create(...[request, by]: Parameters<Tether['create']>): Promise<Result<InstanceInfo>> {
    this.created.push({ by })
    const made = await this.#register.create(request)
    return made.ok ? this.info(made.value.id) : made
  }

  async list(): ReturnType<Tether['list']> {
    const all = await Promise.all(this.#register.all.map(({ id }) => this.info(id)))
    return ok(all.map((one) => value(one)))
  }

  async info(name: string): Promise<Result<InstanceInfo>> {
    const record = this.#register.find(name)
    if (record === undefined) return failed('not_found', 'This Instance does not exist.')
    const state = this.#states.get(record.id) ?? 'stopped'
    const waiting = (await this.#logs.get(record.id))?.pending().length ?? 0
    return ok({ ...record, state, waiting, spend: { usd: 0, calls: 0 } })
  }

  async act(...[name, act]: Parameters<Tether['act']>): Promise<Result<InstanceInfo>> {
    const info = await this.info(name)
    if (!info.ok) return info
    const { id } = info.value
    if (act === 'enable' || act === 'disable')
      value(await this.#register.update(id, { enabled: act === 'enable' }))
    else this.#states.set(id, STATES[act])
    return this.info(id)
  }

  async map(...[name, workspace]: Parameters<Tether['map']>): Promise<Result<InstanceInfo>> {
    const info = await this.info(name)
    if (!info.ok) return info
    const mapped = await this.#register.update(info.value.id, { workspace })
    return mapped.ok ? this.info(info.value.id) : mapped
  }

  async delete(name: string): ReturnType<Tether['delete']> {
    const info = await this.info(name)
    if (!info.ok) return info
    const removed = await this.#register.remove(info.value.id)
    return removed.ok ? ok(info.value.id) : removed
  }

  async send(...[name, frame]: Parameters<Tether['send']>): ReturnType<Tether['send']> {
    const info = await this.info(name)
    if (!info.ok) return info
    if (!info.value.enabled) return failed('instance_disabled', 'This Instance is disabled.')
    const added = await (await this.log(info.value.id)).append(frame)
    if (!added.ok) return added
    return ok({ msg_id: frame.msg_id, session_id: frame.session.id, ingress_seq: added.value.seq })
  }

  async poll(...[name, query, options]: Parameters<Tether['poll']>): ReturnType<Tether['poll']> {
    const info = await this.info(name)
    return info.ok ? (await this.log(info.value.id)).poll(query, options) : info
  }

  async follow(
    ...[name, after, filter, signal]: Parameters<Tether['follow']>
  ): ReturnType<Tether['follow']> {
    const info = await this.info(name)
    return info.ok ? (await this.log(info.value.id)).follow(after, filter, signal) : info
  }

  async putImage(...[name, image]: Parameters<Tether['putImage']>): ReturnType<Tether['putImage']> {
    const info = await this.info(name)
    if (!info.ok) return info
    const { media_type, bytes } = image
    if (usualExtension(bytes) !== BLOB_EXTENSIONS[media_type])
      return failed('type_mismatch', `The image is not ${media_type}.`)
    const blob = `${sha256(bytes)}.${BLOB_EXTENSIONS[media_type]}`
    this.#images.set(blob, image)
    return ok({ media_type, blob, size: bytes.length })
  }

  async image(...[name, blob]: Parameters<Tether['image']>): ReturnType<Tether['image']> {
    const info = await this.info(name)
    if (!info.ok) return info
    const image = this.#images.get(blob)
    return image === undefined ? failed('resource_missing', 'No such image.') : ok(image)
  }

  /** What a guest would say. */
  async says(name: string, frame: FrameToHost): Promise<void> {
    value(await (await this.log(value(await this.info(name)).id)).append(frame))
  }

  log(id: string): Promise<FrameLog> {
    const open = async () => {
      const folder = await this.#home.folder(`frames-${id}`, 'create')
      this.#folders.push(folder)
      const options = { clock: systemClock, settings: FRAME_LOG_SETTINGS, places: this.places }
      return value(await openFrames(folder, options))
    }
    const opened = this.#logs.get(id) ?? open()
    this.#logs.set(id, opened)
    return opened
  }

  async close(): Promise<void> {
    for (const log of this.#logs.values()) await (await log).close()
    for (const folder of [...this.#folders, this.#home]) await folder.close()
  }
}

const STATES = { start: 'running', resume: 'running', pause: 'paused', stop: 'stopped' } as const

/** For `localServer`. */
export async function openFakeTether(
  home: Folder,
): Promise<Result<{ tether: FakeTether; close: () => Promise<void> }>> {
  const folder = await home.folder('instances', 'create')
  const [clock, ids] = [systemClock, systemIds(systemClock)]
  const tether = new FakeTether(folder, value(await InstanceRegister.open({ folder, clock, ids })))
  return ok({ tether, close: () => tether.close() })
}
