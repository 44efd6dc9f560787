import { shorten } from '../../encoding/quote.ts'
import type { Clock } from '../../host/clock.ts'
import { ok, type Failed, type Result } from '../../model/errors.ts'
import { BLOB_EXTENSIONS } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import type { GuestResend, GuestStart } from '../../model/tether/guest-line.ts'
import type { ImageReference } from '../../model/tether/frame.ts'
import type { TetherAddress } from '../../model/tether/tether-address.ts'
import type { AdmitOptions, AdmittedTurn } from '../../session/admission/admit-options.ts'
import type { Harness } from '../../session/harness.ts'
import type { Session } from '../../session/session.ts'
import { noImages } from '../frames/frame-check.ts'
import { conversationName, messageName } from '../frames/message-name.ts'
import { frameText, frameTexts } from '../frames/frame-text.ts'
import type { FrameToHost } from '../../model/tether/frame.ts'
import type {
  CancelFrame,
  GuestFrames,
  MessageFrame,
  Reply,
  TerminalFrame,
} from '../frames/guest-frames.ts'
import type { InstanceSessions } from './instance-sessions.ts'
import { RETRYABLE } from './retryable.ts'
import { endOf, progressOf, type MessageEnd } from './translate.ts'

export interface MessageParts {
  readonly start: GuestStart
  readonly harness: Harness
  readonly sessions: InstanceSessions
  readonly frames: GuestFrames
  /** Resolves when the other side has taken most frames. */
  readonly send: (frame: FrameToHost) => Promise<void>
  readonly clock: Clock
  readonly onDefect: (error: unknown) => void
}

/** A guest that was killed may take some time to be gone, and holds its Sessions until then. */
const BUSY_MS = 10_000

/** A message that has not ended. */
interface ActiveMessage {
  readonly frame: MessageFrame
  /** While its Turn runs. */
  session?: Session | undefined
  isCancelled: boolean
  /** Nothing of its answer was shown, so its Turn may continue if an earlier guest left it open. */
  readonly isUnshown: boolean
  /** Its Turn has ended, but not all of its frames are sent. The Session may be running the next message. */
  over: boolean
  /** Its end was sent. */
  hasEnd: boolean
  /** Resolves when nothing of it is left to do. */
  ending: Promise<void>
}

interface AdmittedMessage {
  readonly session: Session
  readonly admission: AdmittedTurn
}

/** The messages of a guest: each runs as a Turn of its conversation and ends with exactly one terminal frame. */
export class Messages {
  readonly #parts: MessageParts
  readonly #active = new Map<string, ActiveMessage>()
  readonly #running = new Set<Promise<void>>()
  /** Messages that are still to come and that were not shown. */
  readonly #unshownMessages = new Set<string>()
  #closing = false

  constructor(parts: MessageParts) {
    this.#parts = parts
  }

  /** The server vouches for the message that comes next: nothing of its answer was shown. */
  noteResend(line: Pick<GuestResend, 'session' | 'msg_id'>): void {
    this.#unshownMessages.clear()
    this.#unshownMessages.add(messageName(line))
  }

  /** Starts a message. One that runs already is only acknowledged; one that has run ends as it did then. */
  receive(frame: MessageFrame): void {
    const key = messageName(frame)
    const { frames, send, onDefect } = this.#parts
    const isUnshown = this.#unshownMessages.delete(key)
    void send(frames.ack({ to: frame }, 'received'))
    if (this.#active.has(key)) return
    const message: ActiveMessage = {
      frame,
      isCancelled: false,
      isUnshown,
      over: false,
      hasEnd: false,
      ending: Promise.resolve(),
    }
    this.#active.set(key, message)
    const running = this.#run(message)
      .catch((error: unknown) => {
        onDefect(error)
        return this.#end(message, { to: frame }, internal())
      })
      .finally(() => {
        this.#active.delete(key)
        this.#running.delete(running)
      })
    this.#running.add(running)
    message.ending = running
  }

  /**
   * Interrupts the message that it names, or else the oldest of its conversation whose Turn is not over. One that has not
   * started yet is interrupted as soon as it starts.
   */
  cancel({ session, in_reply_to }: CancelFrame): void {
    const own = this.#of(session).filter(({ over }) => !over)
    const message =
      in_reply_to === undefined ? own[0] : own.find(({ frame }) => frame.msg_id === in_reply_to)
    if (message === undefined) return
    message.isCancelled = true
    message.session?.interrupt()
  }

  /** From now on, a message that did not start has no end here: it is delivered again to the next guest. */
  close(): void {
    this.#closing = true
  }

  /** Resolves when every message has ended. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** The messages of a conversation that have not ended, in the order of their arrival. */
  #of(address: TetherAddress): ActiveMessage[] {
    const key = conversationName(address)
    return [...this.#active.values()].filter(({ frame }) => conversationName(frame.session) === key)
  }

  async #run(message: ActiveMessage): Promise<void> {
    const { frame } = message
    const { sessions, frames, send } = this.#parts
    const started = await this.#admit(message)
    if (!started.ok) {
      if (!this.#closing) await this.#end(message, { to: frame }, errorOf(started))
      return
    }
    const { session, admission } = started.value
    const { turn, repeated = false, continued = false } = admission
    const reply = { to: frame, turn }
    if (!repeated) {
      message.session = session
      const leave = () => {
        message.over = true
        message.session = undefined
      }
      void admission.done.then(leave, leave)
      if (message.isCancelled) session.interrupt()
    }
    await send(frames.ack(reply, repeated ? 'repeated' : continued ? 'continued' : 'started'))
    if (!repeated) await this.#follow(reply, session, admission)
    const result = await admission.done
    if (!(await this.#isNext(message))) return
    if (result.ok) await this.#end(message, reply, endOf(result.value))
    else if (!this.#closing) await this.#end(message, reply, errorOf(result))
    await sessions.tidy((address) => this.#of(address).length > 0)
  }

  /**
   * Waits until the messages before it in its conversation have ended: those that have run are found in the Log at once, and
   * answers must not overtake each other. False if one of them is left to the next guest, which then ends this one, too.
   */
  async #isNext(message: ActiveMessage): Promise<boolean> {
    const own = this.#of(message.frame.session)
    const earlier = own.slice(0, own.indexOf(message))
    await Promise.all(earlier.map(({ ending }) => ending))
    return !this.#closing || earlier.every(({ hasEnd }) => hasEnd)
  }

  async #admit(message: ActiveMessage): Promise<Result<AdmittedMessage>> {
    const { start, sessions, clock } = this.#parts
    const { frame, isUnshown } = message
    let until: number | undefined
    const { text, images = [] } = frame.payload
    if (images.length > 0 && !start.images) return noImages()
    const session = await sessions.session(frame.session)
    if (!session.ok) return session
    const settings = settingsFor(session.value, start)
    // A Turn keeps its settings. If the operator chose others since, it must not continue with the old ones.
    const isSettled = Object.keys(settings).length === 0
    const admitted = await session.value.admit(text, {
      ...admitOptions(frame),
      whenBusy: 'queue',
      waitsForLock: () => {
        until ??= clock.monotonicMs() + BUSY_MS
        return !this.#closing && clock.monotonicMs() < until
      },
      continues: () => isUnshown && isSettled && !message.isCancelled,
      settings,
      attachments: images.map(attachmentOf),
    })
    return admitted.ok ? ok({ session: session.value, admission: admitted.value }) : admitted
  }

  /** Sends what happens in a new Turn, until its end is in the Log. */
  async #follow(reply: Reply, session: Session, { turn, done }: AdmittedTurn): Promise<void> {
    const { frames, send } = this.#parts
    // A Turn whose end cannot be written ends the stream here.
    const over = new AbortController()
    void done.then((outcome) => outcome.ok || over.abort()).catch(() => over.abort())
    const begun = session.events.findLast((e) => e.type === 'turn_started' && e.turn_id === turn)
    const after_seq = (begun?.seq ?? session.nextSeq) - 1
    for await (const update of session.stream({ after_seq, signal: over.signal })) {
      if (update.kind === 'failed') return
      const about = update.kind === 'event' ? update.raw.turn_id : turn
      const from = update.kind === 'ephemeral' ? (update.ephemeral.turn_id ?? turn) : about
      if (from !== turn) continue
      const progress = progressOf(update)
      if (progress !== undefined && 'presence' in progress)
        await send(frames.presence(reply, progress.presence))
      else if (progress !== undefined)
        for (const text of frameTexts(progress.text))
          await send(frames.delta(reply, progress.delta, text))
      if (update.kind === 'event' && update.raw.type === 'turn_ended') return
    }
  }

  async #end(message: ActiveMessage, reply: Reply, end: MessageEnd): Promise<void> {
    await this.#parts.send(await this.#terminal(reply, end))
    message.hasEnd = true
  }

  async #terminal(reply: Reply, end: MessageEnd): Promise<TerminalFrame> {
    const { frames, harness } = this.#parts
    const notices =
      end.notices === undefined || end.notices.length === 0 ? {} : { notices: [...end.notices] }
    if (end.type === 'error') {
      const { kind, message } = end
      return frames.error(reply, { kind, message, retryable: RETRYABLE[kind], ...notices })
    }
    const { status, images } = end
    const { text, truncated } = frameText(end.text, utf8Bytes(JSON.stringify(notices)))
    const whole = truncated ? await harness.keepText(end.text) : undefined
    return frames.done(reply, {
      text,
      ...(images.length === 0 ? {} : { images: [...images] }),
      status,
      ...(truncated ? { truncated } : {}),
      ...(whole?.ok === true ? { text_blob: whole.value } : {}),
      ...notices,
    })
  }
}

/** The id and the name of a sender are shortened, so that no message is refused for them. */
function admitOptions({ session, msg_id, payload: { user } }: MessageFrame): AdmitOptions {
  const most = Math.floor(LIMITS.sender_bytes / 2)
  const sender = user && { id: shorten(user.id, most), name: shorten(user.name, most) }
  return {
    presenter: 'tether',
    channel: session.channel,
    messageKey: msg_id,
    ...(sender === undefined ? {} : { user: sender }),
  }
}

/** What the operator chose since the Session was written. */
function settingsFor({ state }: Session, start: GuestStart): NonNullable<AdmitOptions['settings']> {
  const { provider, model, permission_mode } = start
  const isSame = provider === state.provider && model === state.model
  return {
    ...(isSame ? {} : { model: { provider, model } }),
    ...(permission_mode === state.permission_mode ? {} : { permission_mode }),
  }
}

/** A reference has no name of its own. */
function attachmentOf({ media_type, blob, size }: ImageReference, at: number) {
  const name = `image-${at + 1}.${BLOB_EXTENSIONS[media_type]}`
  return { from: 'blob', name, blob, media_type, size } as const
}

function errorOf({ error }: Failed): MessageEnd {
  return { type: 'error', ...error }
}

function internal(): MessageEnd {
  return { type: 'error', kind: 'internal', message: 'The agent failed on this message.' }
}
