import { Redactor } from '../../../encoding/redaction.ts'
import { inputDrafts } from '../../../host/typed-input/drafts.ts'
import { inputHistory } from '../../../host/typed-input/history.ts'
import { failed, ok, type Result } from '../../../model/errors.ts'
import { wantsColour } from '../world/answer.ts'
import { drawingOn } from '../render/pictures.ts'
import { secretsOf } from '../../../session/settings/credentials.ts'
import { judgeModel } from '../../../session/settings/model-choice.ts'
import type { Session } from '../../../session/session.ts'
import { beginSession } from '../../../session/workspace/begin.ts'
import { appendedInstructions } from '../input/appended-instructions.ts'
import { isContinued, oneSession, REHEARSING } from '../input/session-choice.ts'
import { chosenSession } from '../input/chosen-session.ts'
import { visibleText } from '../text/visible-text.ts'
import { chatActions, type Judge } from '../chat/actions.ts'
import type { PendingAttachment } from '../chat/commands/pending-attachments.ts'
import { runChat } from '../chat/chat.ts'
import type { TypedInput } from '../chat/input-keeper.ts'
import type { ChatActions, TrustingSkills } from '../chat/commands/command-context.ts'
import { withSkillsOf } from '../world/skills-place.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { CHAT } from '../definitions/turns.ts'
import { inWorkspace } from '../world/workspace.ts'
import { terminalSignals } from '../screen/terminal-signals.ts'
import { terminalColours } from '../text/palette.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

/** Starts a conversation in this terminal. */
export const run: Run<typeof CHAT> = async (world, input) => {
  const { stdin, stdout } = world.streams
  if (!stdin.isTTY || !stdout.isTTY) return noTerminal()
  const talk = (opened: OpenWorkspace) => inSession(world, opened, input)
  return inWorkspace(world, input.options, talk, { make: true, questionMs: 0 })
}

async function inSession(
  world: CliWorld,
  opened: OpenWorkspace,
  { args: [words], options: choice }: CommandInput<typeof CHAT>,
): Promise<Result<number>> {
  const { streams, clock, env } = world
  const { harness, settings } = opened
  const { display } = settings.settings
  const draw = drawingOn(streams.stdout, env, display?.pictures)
  const judge: Judge['judge'] = (named) => judgeModel(named, opened.models())
  const trusting: TrustingSkills = (work) => withSkillsOf(world, harness.workspace, work)
  const models = () => opened.models()
  const appended = await appendedInstructions(world, choice.appendInstructions)
  if (!appended.ok) return appended
  const appendInstructions = appended.value
  const own = chatActions(
    { ...world, judge, models, trusting, appendInstructions, copy: copying(world) },
    harness,
    draw,
  )
  /** Sessions that this chat created. */
  const made: Session[] = []
  const begin = async (like: Session) => {
    const begun = await own.begin?.(like)
    if (begun?.ok === true) made.push(begun.value)
    return begun ?? ok(like)
  }
  const actions = { ...own, begin, ...terminalActions(world), storeTheme: storingTheme(opened) }
  const attached = await attachedBy(actions, choice.attach)
  if (!attached.ok) return attached
  const colour = !choice.plain && wantsColour(world, streams.stdout, display?.colour)
  const named = choice.resume === true ? await chosenSession(world, harness, colour) : ok({})
  if (!named.ok) return named
  const chosen = oneSession({ ...choice, ...named.value })
  if (!chosen.ok) return chosen
  const begun = await beginSession(
    opened,
    { ...chosen.value, appendInstructions },
    { env, answers: true },
  )
  if (!begun.ok) return begun
  const { session, byDefault, warning } = begun.value
  if (byDefault) streams.stderr.write(REHEARSING)
  if (warning !== undefined) streams.stderr.write(`hawser: ${visibleText(warning)}\n`)
  const code = await runChat({
    streams,
    clock,
    colour,
    theme: display?.theme,
    terminal: terminalColours(env),
    signals: terminalSignals(env, display, choice.plain),
    session,
    actions,
    attachments: attached.value,
    typedInput: typedInput(world, opened),
    vimKeys: settings.settings.input?.keys === 'vim',
    first: words.length > 0 ? words.join(' ') : undefined,
  })
  if (!isContinued(choice)) made.push(session)
  for (const one of made) if (isUnused(one)) await harness.delete(one.id)
  return ok(code)
}

/** Without any Turn or command. */
function isUnused({ state, events }: Session): boolean {
  return state.turns === 0 && events.every(({ type }) => type !== 'shell_command')
}

function storingTheme({ folders, ids }: OpenWorkspace): NonNullable<ChatActions['storeTheme']> {
  return async (theme) => {
    const { storeForUser } = await import('../../../session/settings/stored-settings.ts')
    const { settingNamed } = await import('../input/setting-values.ts')
    const setting = settingNamed('display.theme')
    return setting.ok ? storeForUser({ home: folders.home, ids }, setting.value, theme) : setting
  }
}

function copying({ env }: CliWorld): ChatActions['copy'] {
  return async (text) => {
    const { writeClipboard } = await import('../../../host/process/clipboard-writer.ts')
    return writeClipboard(text, { env })
  }
}

/** Programs that have the terminal for a while. */
function terminalActions({ env }: CliWorld): Pick<ChatActions, 'editText' | 'suspend'> {
  return {
    editText: async (text) => {
      const { editInEditor } = await import('../../../host/process/text-editor.ts')
      return editInEditor(text, env)
    },
    suspend: async () => {
      const { suspendJob } = await import('../../../host/process/suspend.ts')
      return suspendJob()
    },
  }
}

/** Where what is typed is stored, unless the person does not want that. */
function typedInput({ env, clock }: CliWorld, opened: OpenWorkspace): TypedInput | undefined {
  const { settings } = opened.settings
  if (settings.input?.history === false) return undefined
  const { home } = opened.folders
  const place = { home, ids: opened.ids, clock, workspace: opened.harness.workspace }
  const redactor = new Redactor(secretsOf(env, settings))
  const redact = (text: string) => redactor.text(text)
  return { history: inputHistory(place), drafts: inputDrafts(place), redact }
}

/** Checked before the Session starts, so that a bad attachment fails at once. */
async function attachedBy(
  { attach }: ChatActions,
  names: readonly string[],
): Promise<Result<readonly PendingAttachment[]>> {
  const all: PendingAttachment[] = []
  for (const name of names) {
    const one = await attach?.(name)
    if (one === undefined || !one.ok) return one ?? ok([])
    all.push(one.value)
  }
  return ok(all)
}

function noTerminal() {
  return failed('invalid_args', 'hawser chat requires a terminal.', {}, [
    { action: 'Run a single Turn instead.', command: 'hawser -p "What is in this folder?"' },
  ])
}
