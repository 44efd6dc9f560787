import { turnCost, type TurnResult } from '../../../history/results/turn-result.ts'
import { SessionResources } from '../../../history/session-resources.ts'
import { elapsedMs } from '../../../host/clock.ts'
import { failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import type { WholeEvent } from '../../../model/events/event.ts'
import type { Session } from '../../../session/session.ts'
import { beginSession } from '../../../session/workspace/begin.ts'
import { Activity } from '../render/activity.ts'
import { wantsColour } from '../world/answer.ts'
import { isContinued, limitedByPlan, oneSession, REHEARSING } from '../input/session-choice.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { RUN } from '../definitions/turns.ts'
import { EXIT, exitCodeOfTurn } from '../world/exit-code.ts'
import { footer } from '../render/footer.ts'
import { appendedInstructions } from '../input/appended-instructions.ts'
import { attachmentsNamed, enclosedIn } from '../input/attachment-arguments.ts'
import { pathBases } from '../input/path-bases.ts'
import type { AdmitOptions } from '../../../session/admission/admit-options.ts'
import { pipedText, type LateText, type PipedText, type PipedReading } from '../input/piped-text.ts'
import { skillsIn, type NamedSkills } from '../../../session/admission/skill-words.ts'
import { standing } from '../render/picture.ts'
import { drawingOn } from '../render/pictures.ts'
import { promptOf, type Prompt } from '../input/prompt.ts'
import { askAtTerminal, type AskAtTerminal } from '../question/question.ts'
import { jsonView, wordsView, type TurnView, type WordsOptions } from '../render/turn-view.ts'
import { visibleLine, visibleText } from '../text/visible-text.ts'
import { inWorkspace } from '../world/workspace.ts'
import type { OpenWorkspace } from '../../../session/workspace/workspace.ts'
import type { CliWorld } from '../world/world.ts'

/** The options, with what they mean together. */
interface Options extends Omit<CommandInput<typeof RUN>['options'], 'timeout'> {
  readonly timeout: number | undefined
  readonly format: 'text' | 'json' | 'stream-json'
}

/**
 * Runs one Turn: prints the answer to standard output, or JSON with `--output`; everything else goes to standard error.
 */
export const run: Run<typeof RUN> = async (world, { args: [words], options: typed }) => {
  const options = optionsOf(typed)
  if (!options.ok) return options
  const input = await inputOf(world, words, options.value)
  if (!input.ok) return input
  const activity = new Activity(world.clock, world.streams.stderr)
  const { streams, clock } = world
  const colour = wantsColour(world, streams.stderr)
  const asking =
    options.value.format === 'text'
      ? askAtTerminal({ streams, clock, colour, activity })
      : undefined
  try {
    return await inWorkspace(
      world,
      typed,
      (opened) => inSession(world, opened, options.value, input.value, { activity, asking }),
      { make: true, questionMs: 0 },
    )
  } finally {
    await input.value.late?.drop()
  }
}

function optionsOf(typed: CommandInput<typeof RUN>['options']): Result<Options> {
  const { output, json } = typed
  const timeout = typed.timeout === undefined ? undefined : Number(typed.timeout)
  if (timeout !== undefined && !(timeout > 0 && timeout <= MOST_SECONDS))
    return failed(
      'invalid_args',
      `--timeout must be a number of seconds, greater than 0 and at most ${MOST_SECONDS}.`,
    )
  if (json && output !== undefined && output !== 'stream-json')
    return failed('invalid_args', 'Pass either --json or --output, not both.')
  const format = output ?? (json ? 'stream-json' : 'text')
  return ok({ ...typed, timeout, format, json: format !== 'text' })
}

const MOST_SECONDS = 86_400

/** What the terminal shows besides the answer. */
interface TerminalUse {
  readonly activity: Activity
  /** Absent if no one can be asked. */
  readonly asking: AskAtTerminal | undefined
}

/** The prompt and its message, as far as they are known without a Session. */
interface RunInput {
  readonly prompt: Prompt
  readonly message: AdmitOptions
  /** Standard input that may still come. */
  readonly late: LateText | undefined
}

async function inputOf(
  world: CliWorld,
  words: readonly string[],
  { attach: names, quiet, stdin: choice, resume }: Options,
): Promise<Result<RunInput>> {
  const { stdin } = world.streams
  const beside = { hasAttachments: names.length > 0, stdin: names.includes('-') }
  if (beside.stdin && choice === false)
    return failed('invalid_args', '--attach - reads standard input, and --no-stdin ignores it.')
  const prompt = await promptOf(world, words, { ...beside, ignoresStdin: choice === false })
  if (!prompt.ok) return typeof resume === 'string' ? withoutPrompt(resume, prompt) : prompt
  const attached = await attachmentsNamed({ ...world, stdin }, names)
  if (!attached.ok) return attached
  // Without a typed prompt, standard input is the prompt or an attachment.
  const isBeside = prompt.value.byHand && !beside.stdin
  const read = isBeside ? await pipedText(stdin, world.clock, choice) : ok({})
  if (!read.ok) return read
  const { late }: PipedReading = read.value
  const message = withPiped(world, { attachments: attached.value }, read.value, quiet)
  return ok({ prompt: prompt.value, message, late })
}

/** With what standard input adds, which the person is informed about. */
function withPiped(
  { streams: { stderr } }: CliWorld,
  { attachments = [] }: AdmitOptions,
  { text: piped, notice, attachment }: PipedText,
  quiet: boolean,
): AdmitOptions {
  if (notice !== undefined && !quiet) stderr.write(`hawser: ${notice}\n`)
  const first = attachment === undefined ? [] : [attachment]
  return { attachments: [...first, ...attachments], piped }
}

/** `-r` takes the next word as the id of a Session, which may have been meant as the prompt. */
function withoutPrompt(resume: string, { error }: Failed): Failed {
  const word = visibleLine(JSON.stringify(resume))
  const message = `${error.message} ${word} after -r was read as the id of a Session to continue.`
  return failed(error.kind, message, error.details, [
    { action: 'Continue a Session.', command: `hawser run -r ID ${word}` },
    { action: 'Continue the most recent one.', command: `hawser run -c ${word}` },
  ])
}

async function inSession(
  world: CliWorld,
  opened: OpenWorkspace,
  options: Options,
  input: RunInput,
  { activity, asking }: TerminalUse,
): Promise<Result<number>> {
  const begun = await begin(world, opened, options, input, asking !== undefined)
  if (!begun.ok) return begun
  const { session, byDefault, warning, named } = begun.value
  const { stdout, stderr } = world.streams
  if (byDefault && !options.quiet && !options.json) stderr.write(REHEARSING)
  if (warning !== undefined && !options.quiet) stderr.write(`hawser: ${visibleText(warning)}\n`)
  const limited = limitedByPlan(session, options)
  if (limited !== undefined && !options.quiet) stderr.write(`hawser: ${limited}\n`)
  const late = (await input.late?.take()) ?? ok({})
  if (!late.ok) {
    await leave(opened, session, options)
    return late
  }
  const { prompt } = input
  const sent =
    input.late === undefined
      ? input.message
      : withPiped(world, input.message, late.value, options.quiet)
  const message = prompt.byHand
    ? await withNamed(world, opened, session, prompt.text, sent, named, options)
    : sent
  const view = options.json
    ? jsonView(stdout, options.format === 'json' ? 'result' : 'all')
    : await wordsFor(world, opened, { ...options, session }, activity)
  // Recorded with the start of a new Session, before anything is shown.
  if (session.state.turns === 0) for (const notice of noticesIn(session.events)) view.after(notice)
  const stopAsking = asking?.(session)
  const stopping = stopOnSignals(world, session, options.timeout)
  const started = world.clock.monotonicMs()
  try {
    const result = await session.run(prompt.text, message, view.show)
    if (!result.ok) return result
    const exit_code = stopping.code() ?? exitCodeOfTurn(result.value)
    for (const notice of noticesAfter(session, result.value)) view.after(notice)
    view.end(session.id, { ...result.value, exit_code })
    if (!options.quiet && !options.json) reportEnd(world, session, result.value, started)
    return ok(exit_code)
  } finally {
    activity.clear()
    stopping.stopListening()
    await stopAsking?.()
    await leave(opened, session, options)
  }
}

/** The Session of the Turn, and the Skills that the prompt names. */
async function begin(
  world: CliWorld,
  opened: OpenWorkspace,
  options: Options,
  { prompt: { text, byHand } }: RunInput,
  answers: boolean,
) {
  const choice = oneSession(options)
  if (!choice.ok) return choice
  const appended = await appendedInstructions(world, options.appendInstructions)
  if (!appended.ok) return appended
  const chosen = { ...choice.value, appendInstructions: appended.value }
  const listed = async () => (await opened.harness.skills()).skills
  const named = await skillsIn(byHand ? text : '', listed)
  if (!named.ok) return named
  const begun = await beginSession(opened, chosen, { env: world.env, toAdmit: true, answers })
  return begun.ok ? ok({ ...begun.value, named: named.value }) : begun
}

/** Deletes a new Session whose only message was refused. */
async function leave(
  { harness }: OpenWorkspace,
  session: Session,
  options: Options,
): Promise<void> {
  await session.close()
  if (!isContinued(options) && session.state.turns === 0) await harness.delete(session.id)
}

/** Notices that were recorded while the lock was released; they belong to no Turn. */
function noticesAfter(session: Session, { turn_id }: TurnResult): WholeEvent<'notice'>[] {
  const end = session.events.findLastIndex(
    (event) => event.type === 'turn_ended' && event.turn_id === turn_id,
  )
  return noticesIn(session.events.slice(end + 1))
}

function noticesIn(events: Session['events']): WholeEvent<'notice'>[] {
  return events.flatMap((event) => (event.type === 'notice' ? [event] : []))
}

/** With what the `@` words and the names of Skills mean, in a prompt that a person typed. */
async function withNamed(
  world: CliWorld,
  { harness }: OpenWorkspace,
  session: Session,
  text: string,
  message: AdmitOptions,
  named: NamedSkills,
  { quiet, json }: Options,
): Promise<AdmitOptions> {
  const bases = pathBases(world, harness.workspace)
  const { attachments = [] } = message
  const { notes, ...enclosed } = await enclosedIn(text, session, attachments, bases)
  if (!quiet && !json)
    for (const note of [...notes, ...named.notes]) world.streams.stderr.write(`hawser: ${note}\n`)
  return { ...message, ...enclosed, skills: named.skills }
}

async function wordsFor(
  world: CliWorld,
  { settings }: OpenWorkspace,
  { quiet, plain, session }: Pick<Options, 'quiet' | 'plain'> & { readonly session: Session },
  activity: Activity,
): Promise<TurnView> {
  const { stdout, stderr } = world.streams
  const { display } = settings.settings
  // Without a terminal, do not load what only a terminal needs.
  const forTerminal =
    stderr.isTTY || (stdout.isTTY && !plain)
      ? await import('../screen/terminal-words.ts')
      : undefined
  const shown = forTerminal?.terminalWords(world, display, plain)
  const draw = drawingOn(stderr, world.env, display?.pictures)
  const picture: WordsOptions['picture'] =
    draw === undefined
      ? undefined
      : async (resource) => {
          const drawn = await draw(session, resource)
          return drawn === undefined ? undefined : standing(drawn)
        }
  const resourceOf: WordsOptions['resourceOf'] = (id) =>
    new SessionResources(session.events).byId(id)?.descriptor
  return wordsView({ stdout, stderr, activity, quiet, ...(shown ?? NO_WORDS), resourceOf, picture })
}

const NO_WORDS = { resultText: () => '', planText: () => '' }

/** A signal or the time limit ends the Turn in the Log first; the exit code shows which one. */
function stopOnSignals(
  { streams, clock }: CliWorld,
  session: Session,
  timeout: number | undefined,
): { readonly code: () => number | undefined; readonly stopListening: () => void } {
  let code: number | undefined
  const stop = (why: number, limit?: number) => () => {
    code ??= why
    session.interrupt(limit)
  }
  const listening = [
    streams.onSignal('SIGINT', stop(EXIT.interrupted)),
    streams.onSignal('SIGTERM', stop(EXIT.terminated)),
    streams.onSignal('SIGHUP', stop(EXIT.hangup)),
    ...(timeout === undefined ? [] : [clock.after(timeout * 1000, stop(EXIT.timedOut, timeout))]),
  ]
  return { code: () => code, stopListening: () => listening.forEach((end) => end()) }
}

function reportEnd(
  { streams: { stderr }, clock }: CliWorld,
  session: Session,
  { usage }: TurnResult,
  started: number,
): void {
  const from = session.events.findLastIndex(({ type }) => type === 'turn_started')
  const took = footer(usage, turnCost(session.events.slice(from)), elapsedMs(clock, started))
  stderr.write(`[${took}]\n[to continue: hawser run --session ${session.id}]\n`)
}
