import { ok } from '../../../model/errors.ts'
import { skillsIn, type NamedSkills } from '../../../session/admission/skill-words.ts'
import { giveBack } from '../screen/editor.ts'
import { sentences } from '../screen/rows.ts'
import { EXIT } from '../world/exit-code.ts'
import type { ChatSkill } from './commands/command-context.ts'
import { commandNames, readCommand, runChatCommand } from './commands/commands.ts'
import { inChat } from '../text/chat-forms.ts'
import type { ChatDesk } from './desk.ts'
import { isPlain } from './commands/pending-attachments.ts'
import { goBack } from './rewind.ts'
import { failureRows } from './translate.ts'

const NO_SKILLS: NamedSkills = { skills: [], notes: [] }

/** What an entered text does: a command of the chat, a command of the person, or a message. */
export class EnteredText {
  readonly #desk: ChatDesk

  constructor(desk: ChatDesk) {
    this.#desk = desk
  }

  readonly submit = (text: string): void => {
    this.#desk.keeper.enter(text)
    this.#desk.queue.isHeld = false
    this.#desk.inOrder(() => this.#enter(text))
  }

  /** Also for the completion of names. */
  async listSkills(): Promise<readonly ChatSkill[]> {
    const desk = this.#desk
    desk.skills = (await desk.parts.actions.skills?.list())?.skills ?? []
    return desk.skills
  }

  /** A command wins over a Skill of the same name. */
  async #enter(text: string): Promise<void> {
    const desk = this.#desk
    if (text.startsWith('!')) return this.#run(text)
    const names = commandNames(desk.parts.actions)
    const command = readCommand(text)
    const isKnown = command !== undefined && names.includes(command.name)
    const named = isKnown ? ok(NO_SKILLS) : await skillsIn(text, () => this.listSkills(), names)
    if (!named.ok) {
      desk.display.print(failureRows(named.error, desk.display.columns))
      desk.editor = giveBack(desk.editor, text)
      return desk.display.refresh()
    }
    const { skills, notes } = named.value
    if (command !== undefined && skills[0]?.name !== command.name)
      return this.#command(command.name, command.argument)
    desk.note = inChat(notes.join(' '))
    await this.#say(text, skills)
  }

  /** Runs a command of the person. Everything typed meanwhile waits for it, because it may depend on it. */
  async #run(text: string): Promise<void> {
    const desk = this.#desk
    const done = await desk.current.run(text.slice(1).trim())
    desk.note = ''
    desk.display.refresh()
    if (done.ok) return
    desk.display.print(failureRows(done.error, desk.display.columns))
    desk.editor = giveBack(desk.editor, text)
  }

  /** Sends the text with everything that earlier commands attached. */
  async #say(text: string, skills: NamedSkills['skills']): Promise<void> {
    const desk = this.#desk
    const pending = desk.pending.take()
    const inputs = pending.map(({ input }) => input)
    const { current } = desk
    const enclosed = await desk.parts.actions.resolveWords?.(text, current.session, inputs)
    const { attachments = inputs, mentions = [], views = [], notes = [] } = enclosed ?? {}
    if (notes.length > 0) desk.note = inChat(notes.join(' '))
    const message = { text, attachments, mentions, views, skills, pending }
    if (current.busy && !isPlain(message))
      desk.note = 'This message will be sent when the current Turn ends.'
    current.say(message)
  }

  async #command(name: string, argument: string): Promise<void> {
    const desk = this.#desk
    const { display, queue, pending: attachments } = desk
    const { columns } = display
    const { session, busy } = desk.current
    const { actions } = desk.parts
    const typed = `/${name} ${argument}`.trimEnd()
    display.print([[], ...sentences(typed, { columns, style: { dim: true } })])
    const { confirm } = desk.questions
    const { pick } = desk.picking
    const redraw = () => display.refresh()
    const progress = (text: string) => {
      desk.note = text
      redraw()
    }
    const own = { confirm, queue, pick, redraw, progress, colours: desk.colours }
    const context = { session, actions, attachments, columns, busy, ...own }
    const done = await runChatCommand(name, argument, context)
    desk.note = ''
    if (!done.ok) return display.print(failureRows(done.error, columns))
    if (done.value.clears === true) display.clear()
    display.print(done.value.rows)
    if (done.value.copies !== undefined) display.copy(done.value.copies)
    if (desk.skills.some((skill) => skill.name === name))
      desk.note = `The command /${name} shadows a Skill; $${name} in a message activates the Skill.`
    if (done.value.draft !== undefined) desk.editor = giveBack(desk.editor, done.value.draft)
    if (done.value.leave === true) desk.leave(EXIT.done)
    if (done.value.goTo !== undefined) await desk.goTo(done.value.goTo)
    if (done.value.goesBack === true) await goBack(desk)
    if (done.value.send !== undefined) await this.#say(done.value.send, [])
  }
}
