import { join, relative } from 'node:path'
import {
  methods,
  type PromptResponse,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate as Update,
} from '@agentclientprotocol/sdk'
import type { Clock } from '../../host/clock.ts'
import type { OpenBuffers } from '../../host/files/buffered-files.ts'
import { resourcesOf } from '../../history/results/turn-notices.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { EphemeralEvent } from '../../model/events/event.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { AdmittedTurn } from '../../session/admission/admit-options.ts'
import type { SettingsChange } from '../../session/admission/settings-change.ts'
import { skillsIn } from '../../session/admission/skill-words.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'
import { AskedClient } from './asked-client.ts'
import { clientBuffers } from './client-buffers.ts'
import { COMMANDS, commandIn } from './commands.ts'
import type { PromptInput } from './content.ts'
import { availableCommands, configOptions, modeState } from './options.ts'
import { notice } from './notice.ts'
import type { ServedParts } from './served-parts.ts'
import { optionsOf, type SettingParts } from './settings.ts'
import type { ShownChange } from './tool-call.ts'
import { EditorTranslation } from './translate.ts'
import { stopReason } from './turn-end.ts'

/** A prompt from its arrival to its answer. */
interface Prompt {
  isCancelled: boolean
}

/** A Session that the client has open: what happens in it is sent, and prompts become Turns. */
export class ServedSession {
  readonly id: SessionId
  readonly #parts: ServedParts
  readonly #questions: AskedClient
  readonly #stop = new AbortController()
  readonly #own = new Set<TurnId>()
  /** Own Turns whose end was sent before anything waited for it. */
  readonly #ended = new Set<TurnId>()
  /** Called when the end of a Turn was sent. */
  readonly #ends = new Map<TurnId, () => void>()
  #prompt: Prompt | undefined
  /** The numbers of the Events of a prompt that was recorded and refused: no one else wrote meanwhile. */
  #refusedRange = { from: 0, to: 0 }
  /** The numbers of the Events of a command, whose answer says what they mean. */
  #commandRange = { from: 0, to: 0 }
  #commands = 0
  readonly #translation: EditorTranslation
  #admitting: Promise<Result<AdmittedTurn>> | undefined
  #sending: Promise<void> = Promise.resolve()
  #title = ''

  constructor(parts: ServedParts) {
    const { session, client, root, offers, replay } = parts
    this.id = session.id
    this.#parts = parts
    const { openQuestions: questions, id, nextSeq } = session
    const place = {
      session: id,
      workspace: root,
      offers,
      resourceOf: resourcesOf(() => session.events),
    }
    this.#translation = new EditorTranslation({ ...place, fromStart: replay || nextSeq <= 1 })
    this.#questions = new AskedClient({ client, questions, session: id, workspace: root })
  }

  /** Sends everything from now on or, with `replay`, from the start: then it resolves when the past was sent. */
  async follow(): Promise<Result<void>> {
    const { session, replay } = this.#parts
    const { nextSeq } = session
    const past = replay ? nextSeq : 0
    this.#title = session.state.title
    const updates = session.stream({
      after_seq: replay ? -1 : nextSeq - 1,
      signal: this.#stop.signal,
    })
    return new Promise((resolve) => {
      if (past === 0) resolve(ok(undefined))
      this.#sending = (async () => {
        for await (const update of updates) {
          if (update.kind === 'failed') resolve({ ok: false, error: update.error })
          await this.#send(update, past)
          if (update.kind === 'event' && update.raw.seq === past - 1) resolve(ok(undefined))
        }
      })().finally(() => {
        for (const ended of this.#ends.values()) ended()
        this.#questions.leave()
        resolve(failed('interrupted', 'The Session was closed.'))
      })
    })
  }

  /** What the client shows besides the conversation. */
  async sendState(): Promise<void> {
    const { skills } = await this.#parts.holding.workspace.harness.skills()
    const commands = availableCommands(skills)
    await this.#update({ sessionUpdate: 'available_commands_update', availableCommands: commands })
  }

  /** The path of the workspace as the client spells it, and the real one. */
  get roots(): readonly string[] {
    return [this.#parts.root, this.#parts.holding.path]
  }

  buffers(clock: Pick<Clock, 'after'>): OpenBuffers | undefined {
    const { client, offers, holding, root } = this.#parts
    const spelt = (path: string) => join(root, relative(holding.path, path))
    return clientBuffers({ client, session: this.id, clock, offers, spelt })
  }

  /** A prompt of this client runs. */
  get busy(): boolean {
    return this.#prompt !== undefined
  }

  get modes(): SessionModeState {
    return modeState(this.#parts.session.permissionMode)
  }

  async options(): Promise<SessionConfigOption[]> {
    return configOptions(optionsOf(this.#parts))
  }

  /** The setting takes effect as `Session.change` says; the client is notified like any other. */
  async change(change: Result<SettingsChange>): Promise<Result<void>> {
    return change.ok ? this.#parts.session.change(change.value) : change
  }

  get settingParts(): SettingParts {
    return this.#parts
  }

  /** Something that a person should know; a client that shows no notices does not get it. */
  async tell(text: string): Promise<void> {
    if (this.#parts.offers.notices) await this.#update(notice('info', text))
  }

  /** Runs a prompt to its end. `cancelled` is a regular end. */
  async prompt(input: PromptInput, signal: AbortSignal): Promise<Result<PromptResponse>> {
    if (this.#prompt !== undefined) return inProgress()
    const prompt: Prompt = { isCancelled: false }
    this.#prompt = prompt
    const cancel = () => this.cancel()
    if (signal.aborted) prompt.isCancelled = true
    signal.addEventListener('abort', cancel)
    try {
      const typed = input.attachments.length === 0 ? commandIn(input.text) : undefined
      if (typed !== undefined) return await this.#command(typed, prompt)
      return await this.#turn(input, prompt)
    } finally {
      signal.removeEventListener('abort', cancel)
      this.#prompt = undefined
    }
  }

  /** Ends the running prompt of this client, if there is one. */
  cancel(): void {
    if (this.#prompt === undefined) return
    this.#prompt.isCancelled = true
    this.#parts.session.interrupt()
  }

  /** Leaves; a Turn of this client is interrupted, and its end is sent. */
  async close(): Promise<void> {
    const { session, holding } = this.#parts
    this.cancel()
    await session.close()
    this.#stop.abort()
    await this.#sending
    await holding.release()
  }

  async #turn(input: PromptInput, prompt: Prompt): Promise<Result<PromptResponse>> {
    const { session, holding } = this.#parts
    const { harness } = holding.workspace
    const usable = await session.checkProvider()
    if (!usable.ok) return usable
    const list = async () => (await harness.skills()).skills
    const skills = await skillsIn(input.text, list, Object.keys(COMMANDS))
    if (!skills.ok) return skills
    for (const note of skills.value.notes) await this.tell(note)
    if (prompt.isCancelled) return ok({ stopReason: 'cancelled' })
    this.#admitting = session.admit(input.text, {
      presenter: 'acp',
      attachments: input.attachments,
      mentions: input.mentions,
      otherTypes: 'store',
      skills: skills.value.skills,
      presenterContext: input.presenterContext,
    })
    const from = session.nextSeq
    const admitted = await this.#admitting.finally(() => (this.#admitting = undefined))
    if (!admitted.ok) {
      if (isRecorded(admitted)) this.#refusedRange = { from, to: session.nextSeq }
      return cancelledOr(admitted, prompt)
    }
    const { turn, done } = admitted.value
    this.#own.add(turn)
    const sent = this.#endSent(turn)
    if (prompt.isCancelled) session.interrupt()
    const outcome = await done
    if (!outcome.ok) return outcome
    // The client has received everything about the Turn before its answer.
    await sent
    this.#own.delete(turn)
    this.#ended.delete(turn)
    const { usage, error, notices } = outcome.value
    const facts = { turn_id: turn, usage, ...definedFields({ error }), notices }
    const reason = prompt.isCancelled ? 'cancelled' : stopReason(outcome.value)
    return ok({ stopReason: reason, _meta: { hawser: facts } })
  }

  async #command(
    { command, argument }: NonNullable<ReturnType<typeof commandIn>>,
    prompt: Prompt,
  ): Promise<Result<PromptResponse>> {
    const { session } = this.#parts
    const from = session.nextSeq
    this.#commandRange = { from, to: Number.POSITIVE_INFINITY }
    const said = await command.run(session, argument)
    this.#commandRange = { from, to: session.nextSeq }
    if (!said.ok) return cancelledOr(said, prompt)
    this.#commands += 1
    await this.#update(this.#translation.answer(said.value, `command:${this.#commands}`))
    await this.sendState()
    return ok({ stopReason: prompt.isCancelled ? 'cancelled' : 'end_turn' })
  }

  /** Resolves when the end of the Turn was sent, or nothing can be sent any more. */
  #endSent(turn: TurnId): Promise<void> {
    if (this.#ended.delete(turn)) return Promise.resolve()
    const sent = new Promise<void>((resolve) => {
      this.#ends.set(turn, resolve)
    })
    return Promise.race([sent, this.#sending])
  }

  async #send(update: SessionUpdate, pastUntil: number): Promise<void> {
    if (update.kind === 'ephemeral') this.#question(update.ephemeral)
    const past = update.kind === 'event' && update.raw.seq < pastUntil
    const own = !past && (await this.#isOwn(update))
    const isAnswered = update.kind === 'event' && liesIn(update.raw.seq, this.#commandRange)
    const facts = { own, past, isAnswered, change: await this.#changeOf(update) }
    for (const one of this.#translation.updates(update, facts)) await this.#update(one)
    if (update.kind !== 'event') return
    if (!past) await this.#sendChanges(update)
    const { type, turn_id } = update.raw
    if (type !== 'turn_ended' || turn_id === undefined) return
    const ended = this.#ends.get(turn_id)
    this.#ends.delete(turn_id)
    if (ended !== undefined) ended()
    else if (own) this.#ended.add(turn_id)
  }

  #question({ type, data }: EphemeralEvent): void {
    if (!this.#parts.offers.answers) return
    if (type === 'permission_requested') this.#questions.ask(data)
    if (type === 'permission_settled') this.#questions.settle(data.request_id)
  }

  /** The Events of an admitted message may come before its admission is reported. */
  async #isOwn(update: SessionUpdate): Promise<boolean> {
    if (update.kind !== 'event' || update.raw.turn_id === undefined) return false
    if (update.raw.type === 'user_message') {
      const admitted = await this.#admitting
      if (admitted?.ok === true) this.#own.add(admitted.value.turn)
      if (admitted !== undefined && isRecorded(admitted)) return true
      if (liesIn(update.raw.seq, this.#refusedRange)) return true
    }
    return this.#own.has(update.raw.turn_id)
  }

  async #changeOf(update: SessionUpdate): Promise<ShownChange | undefined> {
    if (update.kind !== 'event' || update.event?.type !== 'tool_result') return undefined
    const { harness } = this.#parts.holding.workspace
    const texts = await harness.changedTexts(update.event.data)
    return texts && { oldText: texts.before ?? null, newText: texts.after }
  }

  /** Settings and title, whichever client changed them. */
  async #sendChanges({ raw }: Extract<SessionUpdate, { readonly kind: 'event' }>): Promise<void> {
    const { session } = this.#parts
    if (raw.type === 'session_settings') {
      const { currentModeId } = this.modes
      await this.#update({ sessionUpdate: 'current_mode_update', currentModeId })
      const options = await this.options()
      await this.#update({ sessionUpdate: 'config_option_update', configOptions: options })
    }
    const { title } = session.state
    if (title === this.#title && raw.type !== 'turn_ended') return
    this.#title = title
    await this.#update({ sessionUpdate: 'session_info_update', title, updatedAt: raw.ts })
  }

  /** Waits until the client has taken it. A client that is gone gets nothing more. */
  async #update(update: Update): Promise<void> {
    const { client } = this.#parts
    const notification = { sessionId: this.id, update }
    await client.notify(methods.client.session.update, notification).catch(() => {})
  }
}

function liesIn(
  seq: number,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return seq >= from && seq < to
}

/** A prompt that the client cancelled is not refused. */
function cancelledOr(refused: Failed, { isCancelled: cancelled }: Prompt): Result<PromptResponse> {
  const isCancelled = cancelled && refused.error.kind === 'interrupted'
  return isCancelled ? ok({ stopReason: 'cancelled' }) : refused
}

/** The only refusal of a message that is in the Log; it holds the lock meanwhile. */
function isRecorded(refused: Result<unknown>): boolean {
  return !refused.ok && refused.error.kind === 'attachments_failed'
}

function inProgress(): Result<never> {
  return failed('turn_in_progress', 'A prompt is already running in this Session.', {}, [
    { action: 'Wait for its end, or cancel it.' },
  ])
}
