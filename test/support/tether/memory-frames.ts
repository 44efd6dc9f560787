import { failed, ok, type Failed, type Result } from '../../../src/model/errors.ts'
import { InstanceId } from '../../../src/model/ids.ts'
import type { Clock } from '../../../src/host/clock.ts'
import type { NamedEntry } from '../../../src/tether/frames/frame-entry.ts'
import type {
  CarriedMessages,
  FrameBatch,
  FrameReading,
  FrameStore,
  OpenFrames,
  OpenFramesOptions,
  VisitFrame,
} from '../../../src/tether/frames/frame-store.ts'
import { CrashDisk, type DiskFaults } from '../host/crash-disk.ts'

/** Frames up to the next step of the retention. */
interface Step {
  readonly first: number
  readonly at: number
  readonly carried: CarriedMessages
  reserved: number
  bytes: number
  entries: readonly NamedEntry[]
}

interface Shelf {
  steps: readonly Step[]
  /** The one holder that may append. */
  holder: object | undefined
  /** Numbers of frames that were changed. */
  readonly damaged: Set<number>
}

/**
 * Frames in memory, on which power cuts, kills and full disks have the effects that the port allows. The faults are those of
 * the crash disk, where an append is a write and a sync; each opening is a step too.
 */
export class MemoryFrames {
  readonly store: FrameStore
  readonly #clock: Clock
  readonly #shelves: Map<InstanceId, Shelf>
  readonly #disk: CrashDisk

  constructor(
    clock: Clock,
    disk: CrashDisk = new CrashDisk(1),
    shelves: Map<InstanceId, Shelf> = new Map(),
  ) {
    this.#clock = clock
    this.#disk = disk
    this.#shelves = shelves
    this.store = this.#store()
  }

  get steps(): number {
    return this.#disk.steps
  }

  injectFaults(faults: DiskFaults): void {
    this.#disk.injectFaults(faults)
  }

  /** The same frames for the processes after this one. An append leaves only what is acknowledged, or a part of its batch. */
  afterEnd(seed: number, faults: DiskFaults = {}): MemoryFrames {
    for (const shelf of this.#shelves.values()) shelf.holder = undefined
    return new MemoryFrames(this.#clock, new CrashDisk(seed, faults), this.#shelves)
  }

  /** The holder loses its frames without noticing. */
  seize(instance: InstanceId): void {
    const shelf = this.#shelves.get(instance)
    if (shelf !== undefined) shelf.holder = undefined
  }

  damage(instance: InstanceId, seq: number): void {
    this.#shelves.get(instance)?.damaged.add(seq)
  }

  #store(): FrameStore {
    const [disk, shelves] = [this.#disk, this.#shelves]
    return {
      open: (given, options) =>
        checked(given, async (instance) => {
          disk.step()
          const shelf = shelves.get(instance) ?? {
            steps: [],
            holder: undefined,
            damaged: new Set(),
          }
          if (shelf.holder !== undefined) return failed('storage_failed', 'They are open.')
          shelves.set(instance, shelf)
          return ok(new MemoryOpenFrames(shelf, options, this.#clock, disk))
        }),
      list: async () => {
        disk.checkPower()
        return ok([...shelves].flatMap(([id, { steps }]) => (steps.length > 0 ? [id] : [])))
      },
      raw: (given) =>
        checked(given, async (instance) => {
          disk.checkPower()
          const shelf = shelves.get(instance)
          if (shelf === undefined || shelf.steps.length === 0) return ok(undefined)
          return ok({
            label: instance,
            each: async (visit) => {
              for (const step of shelf.steps) await visit(String(step.first), textsOf(step))
              return undefined
            },
            tidy: async () => {},
            close: async () => {},
          })
        }),
      delete: (given) =>
        checked(given, async (instance) => {
          disk.step()
          if (shelves.get(instance)?.holder !== undefined)
            return failed('storage_failed', 'They are open.')
          shelves.delete(instance)
          return ok(undefined)
        }),
    }
  }
}

async function checked<T>(
  given: string,
  work: (id: InstanceId) => Promise<Result<T>>,
): Promise<Result<T>> {
  const id = InstanceId.safeParse(given)
  return id.success ? work(id.data) : failed('invalid_args', 'This is not the id of an Instance.')
}

async function* textsOf({ carried, entries }: Step): AsyncGenerator<Buffer> {
  for (const { text } of [...carried.waiting, ...entries]) yield Buffer.from(text)
}

class MemoryOpenFrames implements OpenFrames {
  readonly lastReserved: number
  readonly repair = undefined
  readonly damage: Failed | undefined
  readonly #shelf: Shelf
  readonly #options: OpenFramesOptions
  readonly #clock: Clock
  readonly #disk: CrashDisk
  /** The number of the last frame before the damage. */
  readonly #intact: number
  #isStopped = false

  constructor(shelf: Shelf, options: OpenFramesOptions, clock: Clock, disk: CrashDisk) {
    this.#shelf = shelf
    this.#options = options
    this.#clock = clock
    this.#disk = disk
    shelf.holder = this
    if (shelf.steps.length === 0) shelf.steps = [this.#newStep(1, 0, { waiting: [], ended: [] })]
    this.#expire()
    const step = this.#newest
    const broken = step.entries.findIndex(({ seq }) => shelf.damaged.has(seq))
    const intact = broken === -1 ? step.entries : step.entries.slice(0, broken)
    this.damage = broken === -1 ? undefined : damaged()
    this.#intact = intact.at(-1)?.seq ?? step.first - 1
    this.lastReserved = Math.max(step.reserved, intact.at(-1)?.seq ?? step.first - 1)
    const { restore } = options
    restore.begin(step.first - 1)
    restore.ended(step.carried.ended)
    for (const entry of step.carried.waiting) restore.message(entry)
    for (const entry of intact) restore.frame(entry)
  }

  get firstAvailable(): number {
    return this.#shelf.steps[0]?.first ?? 1
  }

  async append(batch: FrameBatch): Promise<Result<void>> {
    if (this.damage !== undefined) return this.damage
    if (this.#isStopped || this.#shelf.holder !== this) {
      this.#isStopped = true
      return failed('storage_failed', 'This holder cannot append any more.')
    }
    this.#startStep(batch.first)
    const step = this.#newest
    const before = { ...step }
    const put = (count: number) => {
      const entries = batch.entries.slice(0, count)
      step.entries = [...step.entries, ...entries]
      step.bytes += entries.reduce((sum, { text }) => sum + text.length, 1)
      if (count === batch.entries.length) step.reserved = batch.reserveTo ?? step.reserved
    }
    // A power cut leaves any part of the batch; a full disk and a failed sync leave nothing of it.
    this.#disk.step(() => put(this.#disk.chance.below(batch.entries.length + 1)))
    const fault = this.#disk.fault()
    if (fault !== undefined) {
      this.#isStopped = fault === 'sync'
      Object.assign(step, before)
      return failed('storage_failed', `A ${fault} failed.`)
    }
    put(batch.entries.length)
    // Stored, but not acknowledged.
    this.#disk.step()
    return ok(undefined)
  }

  async readAfter(
    after: number,
    upTo: number,
    budget: number,
    visit: VisitFrame,
  ): Promise<Result<FrameReading>> {
    this.#disk.checkPower()
    const found = this.#all.filter(({ seq }) => seq > after && seq <= upTo)
    return this.#visit(found, budget, visit, 0)
  }

  async readBefore(
    before: number,
    budget: number,
    visit: VisitFrame,
  ): Promise<Result<FrameReading>> {
    this.#disk.checkPower()
    return this.#visit(this.#all.filter(({ seq }) => seq < before).toReversed(), budget, visit, 0)
  }

  async close(): Promise<void> {
    this.#isStopped = true
    if (this.#shelf.holder === this) this.#shelf.holder = undefined
  }

  get #all(): readonly NamedEntry[] {
    const all = this.#shelf.steps.flatMap(({ entries }) => entries)
    return this.damage === undefined ? all : all.filter(({ seq }) => seq <= this.#intact)
  }

  get #newest(): Step {
    const step = this.#shelf.steps.at(-1)
    if (step === undefined) throw new Error('there is always a step')
    return step
  }

  #visit(
    entries: readonly NamedEntry[],
    budget: number,
    visit: VisitFrame,
    read: number,
  ): Result<FrameReading> {
    let bytes = read
    for (const entry of entries) {
      if (this.#shelf.damaged.has(entry.seq)) return damaged()
      bytes += entry.text.length
      if (!visit(entry) || bytes >= budget) return ok({ bytes, complete: false })
    }
    return ok({ bytes, complete: true })
  }

  #newStep(first: number, reserved: number, { waiting, ended }: CarriedMessages): Step {
    const carried = { waiting: [...waiting], ended: [...ended] }
    return { first, reserved, at: this.#clock.now(), carried, bytes: 0, entries: [] }
  }

  #startStep(first: number): void {
    const { retention, messages } = this.#options
    const { bytes, at, reserved } = this.#newest
    const isOld = this.#clock.now() - at >= retention.mostAgeMs / 8
    if (bytes === 0 || (bytes < retention.fileBytes && !isOld)) return
    const step = this.#newStep(first, Math.max(reserved, first - 1), messages())
    this.#shelf.steps = [...this.#shelf.steps, step]
    this.#expire()
  }

  #expire(): void {
    const { fileBytes, mostBytes, mostAgeMs } = this.#options.retention
    const { steps } = this.#shelf
    let bytes = fileBytes
    let successorAt = this.#newest.at
    const last = steps.slice(0, -1).findLastIndex((step) => {
      bytes += step.bytes
      const isOld = this.#clock.now() - successorAt > mostAgeMs
      successorAt = step.at
      return bytes > mostBytes || isOld
    })
    this.#shelf.steps = steps.slice(last + 1)
  }
}

function damaged(): Failed {
  return failed('log_damaged', 'A frame was changed.')
}
