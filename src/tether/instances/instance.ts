import { countOf } from '../../encoding/amounts.ts'
import type { Clock } from '../../host/clock.ts'
import type { Folder } from '../../host/files/files.ts'
import type { RecordsPlace } from '../../host/files/records.ts'
import type { Ids } from '../../host/ids.ts'
import { inOrder } from '../../host/in-order.ts'
import { failed, ok, type Failed, type HawserError, type Result } from '../../model/errors.ts'
import type { InstanceId } from '../../model/ids.ts'
import type { FrameToGuest } from '../../model/tether/frame.ts'
import type { InstanceRecord } from '../../model/tether/instance.ts'
import { noImages, unfitFrame } from '../frames/frame-check.ts'
import type { FrameStore } from '../frames/frame-store.ts'
import type { PollPlaces } from '../frames/frame-waiters.ts'
import type { MessageFrame } from '../frames/guest-frames.ts'
import type { GuestRecords } from '../records/guest-records.ts'
import { NO_SPEND } from '../relay/rules.ts'
import type { AcceptedFrame, InstanceInfo, InstanceState } from '../tether.ts'
import { refusedImages } from './instance-images.ts'
import { InstanceQueue, type EndKind } from './instance-queue.ts'
import { Lifecycle } from './lifecycle.ts'
import { MessageTimes } from './message-times.ts'
import { messageName } from '../frames/message-name.ts'
import type { InstanceRuntime, RunningGuest } from './runtime.ts'
import { instanceFolder, type FolderParts } from './instance-folder.ts'
import { InstanceSpend } from './instance-spend.ts'
import { mappedPath, OWN_WORKSPACE } from './workspace-place.ts'

/** The record is the current one. */
export interface InstanceParts extends FolderParts {
  readonly id: InstanceId
  readonly unendedFolder: Folder
  readonly isMarked: boolean
  readonly clock: Clock
  readonly ids: Ids
  readonly places: PollPlaces
  readonly frames: FrameStore
  readonly records: GuestRecords
  readonly runtime: InstanceRuntime
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
}

const MESSAGE_SECONDS = 3_600

/** One Instance of this server: its queue, and the guest that works on it. */
export class Instance {
  readonly #parts: InstanceParts
  readonly #life: Lifecycle
  readonly #times: MessageTimes
  readonly queue: InstanceQueue
  readonly #spend: InstanceSpend
  readonly #mapInOrder = inOrder()
  readonly #recordsInOrder = inOrder()
  readonly #sends = new Set<Promise<unknown>>()
  /** Sends wait for it. Never rejects. */
  #mapping: Promise<unknown> | undefined

  constructor(parts: InstanceParts) {
    this.#parts = parts
    const { clock, record } = parts
    this.#spend = new InstanceSpend(parts.folder, parts.ids)
    const note = (entry: Readonly<Record<string, unknown>>) =>
      parts.note({ instance: parts.id, ...entry })
    this.queue = new InstanceQueue({
      ...parts,
      isUsed: () => this.#life.state !== 'stopped',
      onChange: () => this.#noteChange(),
      onAnswer: () => this.#life.noteSuccess(),
      note,
      onDefect: (error) => this.#defect(error),
    })
    this.#life = new Lifecycle({
      clock,
      idle: () => record().idle,
      start: () => this.#start(note),
      isBusy: () => this.queue.isBusy,
      onStart: (guest) => this.#deliverAll(guest),
      ended: () => this.#ended(),
      unable: ({ message }) => this.#endAll('wake_failed', message),
      onChange: (state) => this.#stateChanged(state),
      onDefect: (error) => this.#defect(error),
    })
    this.#times = new MessageTimes({
      clock,
      limitMs: () => (record().message_seconds ?? MESSAGE_SECONDS) * 1000,
      overdue: (message) => this.#later(() => this.#timeOut(message)),
      onExpired: (message) => this.#later(() => this.#giveUp(message)),
    })
  }

  get id(): InstanceId {
    return this.#parts.id
  }

  /** As it is registered now. */
  get record(): InstanceRecord {
    return this.#parts.record()
  }

  async info(): Promise<InstanceInfo> {
    const { record, path } = this.#parts
    const { workspace: _, folder: _folder, ...own } = record()
    const mapped = mappedPath(record(), path)
    const spent = await this.#spend.total()
    const { usd, calls } = spent.ok ? spent.value : NO_SPEND
    const reason = this.#life.reason ?? (spent.ok ? undefined : spent.error)
    return {
      ...own,
      ...(mapped === undefined ? {} : { workspace: mapped }),
      state: this.#life.state,
      waiting: this.queue.waiting.length,
      ...(reason === undefined ? {} : { reason: { kind: reason.kind, message: reason.message } }),
      spend: { usd, calls },
    }
  }

  /** Checks a frame completely, stores it, and wakes the guest. Nothing is written if it is refused. */
  async send(frame: FrameToGuest): Promise<Result<AcceptedFrame>> {
    while (this.#mapping !== undefined) await this.#mapping
    const sending = this.#send(frame)
    this.#sends.add(sending)
    return sending.finally(() => this.#sends.delete(sending))
  }

  /**
   * Stops the guest and changes the workspace by `store`. A message belongs to the workspace that it was sent to, with its images
   * and its Turn: none is accepted meanwhile, and while one has not ended, the change is refused.
   */
  map(store: () => Promise<Result<unknown>>): Promise<Result<unknown>> {
    return this.#mapInOrder(async () => {
      const mapping = this.#mapAlone(store)
      this.#mapping = mapping.catch(() => {})
      return mapping.finally(() => {
        this.#mapping = undefined
      })
    })
  }

  async #mapAlone(store: () => Promise<Result<unknown>>): Promise<Result<unknown>> {
    await Promise.allSettled(this.#sends)
    if (this.queue.isBusy) {
      // What an earlier server left is known when the log is open.
      const opened = await this.queue.log.use(async () => ok(undefined))
      if (!opened.ok) return opened
      const waiting = this.queue.waiting.length
      if (waiting > 0) return notEnded(this.record.handle, waiting)
    }
    await this.#life.stop()
    return store()
  }

  async #send(frame: FrameToGuest): Promise<Result<AcceptedFrame>> {
    const checked = await this.#check(frame)
    if (!checked.ok) return checked
    const accepted = await this.queue.accept(frame)
    if (!accepted.ok) return accepted
    const { seq, deliver } = accepted.value
    if (deliver.length > 0) this.#deliver(deliver)
    return ok({ msg_id: frame.msg_id, session_id: frame.session.id, ingress_seq: seq })
  }

  /** Runs what an earlier server left, or ends it. */
  async recover(): Promise<void> {
    const opened = await this.queue.log.use(async () => ok(undefined))
    if (!opened.ok) return this.#parts.note({ event: 'frames_unreadable', why: opened.error })
    if (!this.#parts.record().enabled) await this.#endAll('instance_disabled', DISABLED)
    if (this.queue.waiting.length > 0) await this.#life.wake()
    else await this.queue.settle()
  }

  start(): Promise<Result<void>> {
    return this.#life.start()
  }

  pause(): Promise<void> {
    return this.#life.pause()
  }

  stop(): Promise<void> {
    return this.#life.stop()
  }

  /** After it was disabled: stops the guest, and ends all messages. */
  async shutDown(): Promise<void> {
    await this.#life.stop()
    if (this.queue.isBusy) await this.recover()
  }

  /** Stops the guest and closes the log. It cannot be used afterwards. */
  async close(graceMs?: number): Promise<void> {
    await this.#life.close(graceMs)
    this.#times.update([], false)
    await this.queue.close()
    await this.#spend.close()
  }

  /** Its records in the mapped workspace now; see `GuestRecords.prepare`. */
  async mappedRecords(mode: 'open' | 'create'): Promise<Result<RecordsPlace>> {
    const { record, path } = this.#parts
    return mappedPath(record(), path) === undefined ? noImages() : this.#records(mode)
  }

  /** Everything that can be wrong with a frame or its Instance. */
  async #check(frame: FrameToGuest): Promise<Result<unknown>> {
    const unfit = unfitFrame(frame)
    if (unfit !== undefined) return unfit
    const { enabled, handle, workspace: mapped } = this.#parts.record()
    if (!enabled) return disabledError(handle)
    const { images = [] } = frame.type === 'user.message' ? frame.payload : {}
    if (images.length > 0 && mapped === undefined) return noImages()
    const { obstacle } = this.#life
    if (obstacle !== undefined) return unableToStart(handle, obstacle)
    const workspace = await instanceFolder(this.#parts)
    if (!workspace.ok) return unableToStart(handle, workspace.error)
    if (images.length === 0) return workspace
    const records = await this.#records('open')
    if (!records.ok) return unableToStart(handle, records.error)
    return (await refusedImages(this.#parts.records, records.value, images)) ?? workspace
  }

  #deliver(frames: readonly FrameToGuest[]): void {
    const { guest } = this.#life
    if (guest !== undefined) for (const frame of frames) guest.send(frame)
    const isOnlyCancelled = frames.every(({ type }) => type === 'control.cancel')
    // A message that no guest has is over when it is cancelled.
    if (isOnlyCancelled && this.#life.state === 'stopped')
      this.#later(() => this.queue.endCancelled())
    else void this.#life.wake()
    this.#life.rest()
  }

  /** What arrived before the guest was ready. What it has already is not sent again. */
  #deliverAll(guest: RunningGuest): void {
    for (const frame of [...this.queue.waiting, ...this.queue.cancels]) guest.send(frame)
  }

  async #start(
    note: (entry: Readonly<Record<string, unknown>>) => void,
  ): Promise<Result<RunningGuest>> {
    const { record, path, runtime } = this.#parts
    if (!record().enabled) return disabledError(record().handle)
    const records = await this.#records('create')
    if (!records.ok) return records
    const workspace = await instanceFolder(this.#parts)
    if (!workspace.ok) return workspace
    const book = await this.queue.book()
    if (!book.ok) return book
    const spend = await this.#spend.open()
    // Trying again does not help, so it is not a crash.
    if (!spend.ok) return failed('unreadable', spend.error.message, spend.error.details)
    const started = await runtime.start({
      record: record(),
      workspace: workspace.value.path,
      identity: workspace.value,
      images: record().workspace !== undefined,
      folder: spend.value.folder,
      path,
      spend: spend.value.file,
      book: book.value,
      onFrame: (frame) => this.queue.store(frame),
      note,
    })
    if (!started.ok) await this.#spend.close()
    return started
  }

  async #ended(): Promise<void> {
    await this.#spend.close()
    await this.queue.endCancelled()
  }

  async #endAll(kind: EndKind, message: string): Promise<void> {
    await this.queue.end(this.queue.waiting, kind, message)
  }

  /** It has run for too long: its guest is to end it. */
  async #timeOut(message: MessageFrame): Promise<void> {
    const cancelled = await this.queue.cancel(this.queue.cancelOf(message), 'timeout')
    if (cancelled.ok) this.#deliver(cancelled.value.deliver)
  }

  /** The guest did not end it. Its other messages run in the next one. */
  async #giveUp(message: MessageFrame): Promise<void> {
    const isThere = this.queue.waiting.some((one) => messageName(one) === messageName(message))
    if (!isThere) return
    await this.queue.end([message], 'timeout', 'The message took too long, and was given up.')
    await this.#restart(0)
  }

  async #restart(graceMs?: number): Promise<void> {
    await this.#life.stop(graceMs)
    if (this.queue.isBusy) await this.#life.wake()
  }

  /** Work that no caller waits for. */
  #later(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#defect(error))
  }

  #defect(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#parts.note({ event: 'instance_defect', instance: this.id, error: text })
  }

  #noteChange(): void {
    this.#times.update(this.queue.waiting, this.#life.state === 'running')
    this.#life.rest()
  }

  #stateChanged(state: InstanceState): void {
    this.#times.update(this.queue.waiting, state === 'running')
    // Not when it is paused: the next message would have to wait for the mark.
    if (state === 'stopped') this.#later(() => this.queue.settle())
  }

  /** Its records in the current workspace. */
  #records(mode: 'open' | 'create'): Promise<Result<RecordsPlace>> {
    return this.#recordsInOrder(async () => {
      const workspace = await instanceFolder(this.#parts)
      if (!workspace.ok) return workspace
      const { records, record } = this.#parts
      const isMapped = ![undefined, OWN_WORKSPACE].includes(record().workspace)
      const place = { workspace: workspace.value, instance: this.id }
      return records.prepare(place, { isMapped }, mode)
    })
  }
}

const DISABLED = 'The Instance was disabled.'

export function disabledError(handle: string): Failed {
  return failed('instance_disabled', `The Instance ${handle} is disabled.`, { handle }, [
    { action: 'Enable it.', command: `hawser instance enable ${handle}` },
  ])
}

function notEnded(handle: string, waiting: number): Failed {
  const text = `The workspace of the Instance ${handle} cannot be changed: it has ${countOf(waiting, 'message')} that must end first.`
  return failed('turn_in_progress', text, { handle, waiting }, [
    { action: 'Wait until they have ended.', command: `hawser instance read ${handle} --follow` },
    { action: 'Or end all of them.', command: `hawser instance disable ${handle}` },
  ])
}

function unableToStart(
  handle: string,
  { kind, message, next_actions }: Pick<HawserError, 'kind' | 'message' | 'next_actions'>,
): Failed {
  const text = `The Instance ${handle} cannot be started. ${message}`
  return failed('wake_failed', text, { handle, reason: kind }, [
    ...next_actions,
    { action: 'Try to start it now.', command: `hawser instance start ${handle}` },
    { action: 'Show its state.', command: `hawser instance info ${handle}` },
  ])
}
