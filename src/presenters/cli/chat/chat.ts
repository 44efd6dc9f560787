import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
import { ok } from '../../../model/errors.ts'
import type { Session } from '../../../session/session.ts'
import type { Line } from '../text/cell-width.ts'
import { EXIT } from '../world/exit-code.ts'
import { Asking } from '../question/asking.ts'
import { OwnQuestions } from '../question/own-questions.ts'
import { isPlain, PendingAttachments, type PendingAttachment } from './pending-attachments.ts'
import { skillsIn, type NamedSkills } from '../../../session/admission/skill-words.ts'
import { commandNames, readCommand, runCommand } from './commands.ts'
import type { ChatActions, ChatSkill } from './command-context.ts'
import { Display } from '../screen/display.ts'
import {
  apply,
  clearEditor,
  giveBack,
  newEditor,
  replaceDraft,
  withHistory,
  type EditorState,
} from '../screen/editor.ts'
import { listenToKeys } from '../screen/keyboard.ts'
import type { Key } from '../screen/keys.ts'
import { fullness, nextPosture, postureWords } from './posture.ts'
import { aside, sentences } from '../screen/rows.ts'
import type { Scene } from '../screen/screen.ts'
import { Suggestions, type SuggestionSources } from '../suggest/suggestions.ts'
import { suggestionSources } from './suggestion-sources.ts'
import { failureRows } from './translate.ts'
import { WatchedSession } from './watched-session.ts'

/** Keys that browse earlier messages. */
const BROWSING: ReadonlySet<string> = new Set(['up', 'down', 'ctrl-p', 'ctrl-n'])

/** Keys that choose from the list of suggestions. */
const CHOOSING: ReadonlySet<string> = new Set(['up', 'down', 'tab', 'enter'])

const NO_SKILLS: NamedSkills = { skills: [], notes: [] }

export interface ChatParts {
  /** Both standard input and output must be a terminal. */
  readonly streams: Streams
  readonly clock: Clock
  readonly colour: boolean
  readonly actions: ChatActions
  /** Opened with `answers`. The chat closes it, and every other Session that it switches to. */
  readonly session: Session
  /** Attachments for the first message. */
  readonly attached?: readonly PendingAttachment[]
  /** The first message, sent at once. */
  readonly first?: string | undefined
}

/**
 * Runs a conversation until the person exits, and returns the exit code: 0 after `/quit` or Ctrl-D, 130 after Ctrl-C,
 * 143 or 129 when a signal or the closing of the terminal ended it. A running Turn is interrupted, and its end is in
 * the Log before this resolves. Restores the terminal.
 */
export async function runChat(parts: ChatParts): Promise<number> {
  const chat = new Chat(parts)
  const { streams, clock } = parts
  const stops = [
    listenToKeys(streams.stdin, clock, chat.press, () => chat.leave(EXIT.hangup)),
    streams.onSignal('SIGINT', () => chat.press({ kind: 'press', chord: 'ctrl-c' })),
    streams.onSignal('SIGTERM', () => chat.leave(EXIT.terminated)),
    streams.onSignal('SIGHUP', () => chat.leave(EXIT.hangup)),
  ]
  try {
    return await talked(chat)
  } finally {
    for (const stop of stops) stop()
  }
}

async function talked(chat: Chat): Promise<number> {
  try {
    chat.open()
    return await chat.left
  } finally {
    await chat.close()
  }
}

class Chat {
  readonly left: Promise<number>
  readonly #parts: ChatParts
  readonly #display: Display
  readonly #asking: Asking
  readonly #questions: OwnQuestions
  readonly #attached = new PendingAttachments()
  readonly #sources: SuggestionSources
  readonly #suggestions: Suggestions
  #current: WatchedSession
  #editor: EditorState
  /** A note to the person, shown until the next key. */
  #note = ''
  /** The next Ctrl-C exits. */
  #armed = false
  #leaving: number | undefined
  #leave: (code: number) => void = () => {}
  #onDefect: (defect: unknown) => void = () => {}
  /** As last listed. */
  #skills: readonly ChatSkill[] = []
  /** Commands run in sequence. */
  #commands: Promise<void> = Promise.resolve()

  constructor(parts: ChatParts) {
    this.#parts = parts
    this.left = new Promise((resolve, reject) => {
      this.#leave = resolve
      this.#onDefect = reject
    })
    this.#display = new Display(parts, {
      scene: () => this.#scene(),
      resized: (columns) => this.#current.resize(columns),
      onDefect: this.#onDefect,
    })
    const refresh = () => this.#display.refresh()
    this.#sources = suggestionSources({
      ...parts,
      session: () => this.#current.session,
      skills: () => this.#skills,
      changed: () => this.#suggest(),
    })
    this.#suggestions = new Suggestions(this.#sources, refresh)
    this.#asking = new Asking(parts.clock, refresh, () => this.#display.bell())
    this.#questions = new OwnQuestions(parts.session.openQuestions)
    this.#current = this.#watched(parts.session)
    this.#editor = newEditor([])
    this.#attached.giveBack(parts.attached ?? [])
  }

  open(): void {
    this.#display.open()
    this.#greet()
    this.#commands = this.#listSkills().then(() => {}, this.#onDefect)
    if (this.#parts.first !== undefined) this.#submit(this.#parts.first)
  }

  leave(code: number): void {
    if (this.#leaving !== undefined) return
    this.#leaving = code
    this.#leave(code)
  }

  async close(): Promise<void> {
    this.#asking.close()
    this.#sources.files?.close()
    this.#note = 'Exiting …'
    this.#display.refresh()
    await this.#current.close()
    await this.#display.close()
    const { id, state } = this.#current.session
    if (state.turns > 0) {
      this.#parts.streams.stderr.write(`Continue with: hawser chat --session ${id}\n`)
    }
  }

  readonly press = (key: Key): void => {
    if (this.#leaving !== undefined) return
    this.#display.refresh()
    if (key.kind === 'press' && key.chord === 'ctrl-c') return this.#interrupt()
    this.#note = ''
    this.#armed = false
    if (this.#asking.take(key)) return
    if (key.kind === 'press' && (this.#chooses(key.chord) || this.#control(key.chord))) return
    if (this.#sendsBare(key)) return this.#submit('')
    const { state, submit } = apply(this.#editor, key, this.#slashWords())
    this.#editor = state
    // The list would take the keys that browse further.
    if (key.kind === 'press' && BROWSING.has(key.chord)) this.#suggestions.hide()
    else this.#suggestions.follow(this.#editor.draft)
    if (submit !== undefined) this.#submit(submit)
  }

  /** Returns true if the list of suggestions handled the key. */
  #chooses(chord: string): boolean {
    const list = this.#suggestions
    if (CHOOSING.has(chord)) list.settle()
    if (!list.isOpen) return false
    if (chord === 'up' || chord === 'down') list.move(chord)
    else if (chord === 'escape') list.close()
    else if (chord === 'tab' || (chord === 'enter' && !list.isComplete)) {
      const draft = list.accepted(this.#editor.draft) ?? this.#editor.draft
      this.#editor = replaceDraft(this.#editor, draft)
      list.follow(draft)
    } else return false
    return true
  }

  /** More can be suggested for the draft. */
  #suggest(): void {
    if (this.#suggestions.hasWord) this.#suggestions.follow(this.#editor.draft)
    this.#display.refresh()
  }

  /** What can follow a slash. */
  #slashWords(): string[] {
    const names = [
      ...commandNames(this.#parts.actions),
      ...this.#skills.flatMap(({ name, trust }) => (trust === 'untrusted' ? [] : [name])),
    ]
    return [...new Set(names)]
  }

  /** Attachments can be sent without text. */
  #sendsBare(key: Key): boolean {
    const isBlank = this.#editor.draft.text.trim() === ''
    const isEnter = key.kind === 'press' && key.chord === 'enter'
    return isEnter && isBlank && this.#attached.waiting.length > 0
  }

  /** Returns true if the chat handled the key, so that it does not go to the draft. */
  #control(chord: string): boolean {
    if (chord === 'ctrl-l') {
      this.#display.repair()
      return true
    }
    if (chord === 'shift-tab') {
      if (!this.#asking.waits)
        this.#commands = this.#commands.then(this.#cycle).catch(this.#onDefect)
      return true
    }
    if (chord === 'escape' && this.#current.busy) {
      this.#note = 'Interrupting …'
      this.#current.session.interrupt()
      return true
    }
    if (chord !== 'ctrl-d' || this.#editor.draft.text !== '') return false
    if (this.#current.busy)
      this.#note = `A ${this.#current.work} is running; press Esc to interrupt it.`
    else this.leave(EXIT.done)
    return true
  }

  /** In the order of input, because an earlier command may also change the mode. */
  readonly #cycle = async (): Promise<void> => {
    const { session } = this.#current
    const changed = await session.change(nextPosture(session.state))
    if (!changed.ok) this.#display.print(failureRows(changed.error, this.#display.columns))
    this.#display.refresh()
  }

  #interrupt(): void {
    const { busy, session } = this.#current
    if (this.#armed) return this.leave(EXIT.interrupted)
    if (!busy && this.#editor.draft.text !== '') {
      this.#editor = clearEditor(this.#editor)
      this.#suggestions.hide()
      return
    }
    this.#armed = true
    this.#note = 'Press Ctrl-C again to exit.'
    if (!busy) return
    this.#note = 'Interrupted. Press Ctrl-C again to exit.'
    session.interrupt()
  }

  #submit(text: string): void {
    this.#commands = this.#commands.then(() => this.#enter(text)).catch(this.#onDefect)
  }

  /** A command wins over a Skill of the same name. */
  async #enter(text: string): Promise<void> {
    if (text.startsWith('!')) return this.#run(text)
    const names = commandNames(this.#parts.actions)
    const command = readCommand(text)
    const isKnown = command !== undefined && names.includes(command.name)
    const named = isKnown ? ok(NO_SKILLS) : await skillsIn(text, () => this.#listSkills(), names)
    if (!named.ok) {
      this.#display.print(failureRows(named.error, this.#display.columns))
      this.#editor = giveBack(this.#editor, text)
      return this.#display.refresh()
    }
    const { skills, notes } = named.value
    if (command !== undefined && skills[0]?.name !== command.name)
      return this.#command(command.name, command.argument)
    this.#note = notes.join(' ')
    await this.#say(text, skills)
  }

  /** Runs a command of the person. Everything typed meanwhile waits for it, because it may depend on it. */
  async #run(text: string): Promise<void> {
    const done = await this.#current.run(text.slice(1).trim())
    this.#note = ''
    this.#display.refresh()
    if (done.ok) return
    this.#display.print(failureRows(done.error, this.#display.columns))
    this.#editor = giveBack(this.#editor, text)
  }

  /** Also for the completion of names. */
  async #listSkills(): Promise<readonly ChatSkill[]> {
    this.#skills = (await this.#parts.actions.skills?.list())?.skills ?? []
    return this.#skills
  }

  /** Sends the text with everything that earlier commands attached. */
  async #say(text: string, skills: NamedSkills['skills']): Promise<void> {
    const attached = this.#attached.take()
    const inputs = attached.map(({ input }) => input)
    const current = this.#current
    const enclosed = await this.#parts.actions.enclosed?.(text, current.session, inputs)
    const { attachments = inputs, mentions = [], views = [], notes = [] } = enclosed ?? {}
    if (notes.length > 0) this.#note = notes.join(' ')
    const message = { text, attachments, mentions, views, skills, attached }
    if (current.busy && !isPlain(message))
      this.#note = 'This message will be sent when the current Turn ends.'
    current.say(message)
  }

  async #command(name: string, argument: string): Promise<void> {
    const { columns } = this.#display
    const { session, busy } = this.#current
    const { actions } = this.#parts
    const typed = `/${name} ${argument}`.trimEnd()
    this.#display.print([[], ...sentences(typed, { columns, style: { dim: true } })])
    const attached = this.#attached
    const { confirm } = this.#questions
    const context = { session, actions, attached, columns, busy, confirm }
    const done = await runCommand(name, argument, context)
    if (!done.ok) return this.#display.print(failureRows(done.error, columns))
    this.#display.print(done.value.rows)
    if (this.#skills.some((skill) => skill.name === name))
      this.#note = `The command /${name} shadows a Skill; $${name} in a message activates the Skill.`
    if (done.value.leave === true) this.leave(EXIT.done)
    if (done.value.goTo !== undefined) await this.#goTo(done.value.goTo)
  }

  async #goTo(session: Session): Promise<void> {
    const before = this.#current
    this.#current = this.#watched(session)
    await before.close()
    this.#greet()
  }

  #greet(): void {
    const { provider, model, workspace } = this.#current.session.state
    const name = model === provider ? model : `${model} (${provider})`
    const text = `hawser · ${name} · ${workspace}`
    const { columns } = this.#display
    this.#display.print(sentences(text, { columns, style: { dim: true } }))
    this.#current.open()
    this.#questions.over(this.#current.session.openQuestions)
    this.#asking.watch(this.#questions)
    this.#editor = newEditor(this.#current.sent())
  }

  #watched(session: Session): WatchedSession {
    return new WatchedSession(session, this.#display.columns, {
      print: (rows) => this.#display.print(rows),
      changed: () => this.#display.refresh(),
      messageRecorded: () => {
        this.#editor = withHistory(this.#editor, this.#current.sent())
      },
      notSent: ({ text, attached }) => {
        this.#editor = giveBack(this.#editor, text)
        this.#attached.giveBack(attached)
      },
      draw: this.#parts.actions.draw,
      onDefect: this.#onDefect,
    })
  }

  #scene(): Scene {
    const { busy, view } = this.#current
    const hasQuestion = this.#asking.waits
    return {
      open: view.open(),
      activity: [...(hasQuestion ? [] : view.activity()), ...this.#waiting()],
      question: (columns, most) => this.#asking.rows(columns, most),
      draft: this.#editor.draft,
      ...(hasQuestion ? {} : { below: (columns: number) => this.#suggestions.rows(columns) }),
      hint: this.#hint(),
      cursor: busy ? 'drawn' : 'own',
    }
  }

  /** The attachments for the next message, one per line. */
  #waiting(): Line[] {
    return this.#attached.waiting.map(({ words }, at) => aside(`[${at + 1}] ${words}`))
  }

  #hint(): Line {
    const { busy, session, work } = this.#current
    if (this.#note !== '') return [{ text: this.#note, style: { colour: 'yellow' } }]
    if (this.#asking.waits) return this.#asking.hint()
    const inForce = [postureWords(session.state), ...fullness(session)].join(' · ')
    if (!busy) return aside(`${inForce} · /help`)
    // A message waits for a command.
    const enter = work === 'Turn' ? ' · Enter steers' : ''
    return aside(`${inForce} · Esc interrupts${enter}`)
  }
}
