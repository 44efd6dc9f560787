import { systemClock } from '../../../src/host/clock.ts'
import type { Output } from '../../../src/host/output.ts'
import { resourcesIn } from '../../../src/history/results/turn-notices.ts'
import { turnResult } from '../../../src/history/results/turn-result.ts'
import { EventEnvelope, type EventDraft, type WholeEvent } from '../../../src/model/events/event.ts'
import { Frame } from '../../../src/model/tether/frame.ts'
import { TurnId } from '../../../src/model/ids.ts'
import { EditorTranslation } from '../../../src/presenters/acp/translate.ts'
import { translate } from '../../../src/presenters/cli/chat/translate.ts'
import { FrameWords } from '../../../src/presenters/cli/commands/instance/frame-words.ts'
import { Activity } from '../../../src/presenters/cli/render/activity.ts'
import { jsonView, wordsView } from '../../../src/presenters/cli/render/turn-view.ts'
import { UpdateTranslation } from '../../../src/presenters/http/translate-updates.ts'
import { stepsOf, type EndFrame } from '../../../src/presenters/telegram/answer-steps.ts'
import type { SessionUpdate } from '../../../src/session/watch/session-stream.ts'
import { endOf } from '../../../src/tether/guest/translate.ts'
import { SAMPLE_SESSION } from './log-generator.ts'
import { wholeEvents } from './sample-resources.ts'
import { KNOWN } from './told-events.ts'

export const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')
const EARLIER = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z11')

/** What a face says, piece by piece, each with the form in which it says it. */
export type Said = readonly { readonly form: string; readonly text: string }[]

/** Each face of a Session, as a function from the Events of a Turn to what its person or program receives. */
export const FACES = {
  chat: saidInChat,
  run: saidByRun,
  'run --json': saidInJson,
  library: saidByLibrary,
  HTTP: saidOverHttp,
  'editor (ACP)': (events: readonly WholeEvent[]) => saidToEditor(events, false),
  'editor with notices': (events: readonly WholeEvent[]) => saidToEditor(events, true),
  tether: saidOverTether,
  'hawser instance': saidByInstance,
  Telegram: saidInTelegram,
} as const satisfies Record<string, (events: readonly WholeEvent[]) => Promise<Said>>

/** A Turn with one more Event, in a Session that has a Resource from an earlier one. */
export function turnWith(draft: EventDraft): readonly WholeEvent[] {
  const start = (turn_id: TurnId, data: object): EventDraft[] => [
    { type: 'turn_started', turn_id, data: { source: { presenter: 'cli' } } },
    { type: 'user_message', turn_id, data: { text: 'Look.', prompt_mode: 'blocks', ...data } },
  ]
  const usage_total = {
    input: 1,
    cached_read: 0,
    cache_write: 0,
    output: 1,
    reasoning: 0,
    calls: 1,
  }
  const end = (turn_id: TurnId): EventDraft => ({
    type: 'turn_ended',
    turn_id,
    data: { status: 'completed', usage_total },
  })
  const before = [...start(EARLIER, { resources: [KNOWN] }), end(EARLIER)]
  const told: EventDraft = { ...draft, turn_id: TURN }
  const own = draft.type === 'user_message' ? start(TURN, {}).slice(0, 1) : start(TURN, {})
  const rest = draft.type === 'turn_ended' ? [told] : [told, end(TURN)]
  return wholeEvents([...before, ...own, ...rest])
}

async function saidInChat(events: readonly WholeEvent[]): Promise<Said> {
  const own = ownOf(events)
  return own.map((event, at) => {
    const rows = translate(event, own.slice(0, at + 1), 200, resourcesIn(events))
    const text = rows.map((row) => row.map((cell) => cell.text).join('')).join('\n')
    return { form: 'a line', text }
  })
}

async function saidByRun(events: readonly WholeEvent[]): Promise<Said> {
  const [stdout, stderr] = [collected(), collected()]
  const view = wordsView({
    stdout,
    stderr,
    activity: new Activity(systemClock, stderr),
    quiet: false,
    resultText: () => '',
    planText: () => '',
    resourceOf: resourcesIn(events),
  })
  for (const event of ownOf(events)) await view.show(lineOf(event))
  view.end(SAMPLE_SESSION, { ...turnResult(events, TURN), exit_code: 0 })
  return [{ form: 'standard error', text: stderr.text() }]
}

async function saidInJson(events: readonly WholeEvent[]): Promise<Said> {
  const stdout = collected()
  jsonView(stdout, 'result').end(SAMPLE_SESSION, { ...turnResult(events, TURN), exit_code: 0 })
  const { notices } = JSON.parse(stdout.text()) as { notices: unknown }
  return [{ form: '`notices` of `turn_result`', text: JSON.stringify(notices) }]
}

async function saidByLibrary(events: readonly WholeEvent[]): Promise<Said> {
  const { notices } = turnResult(events, TURN)
  return [{ form: '`notices` of the result', text: JSON.stringify(notices) }]
}

async function saidOverHttp(events: readonly WholeEvent[]): Promise<Said> {
  const resourceOf = resourcesIn(events)
  const translation = new UpdateTranslation({ provider: 'p', model: 'm', resourceOf })
  return ownOf(events)
    .flatMap((event) => translation.messages(updateOf(event)))
    .filter(({ event }) => event !== 'log:event')
    .map(({ event, data }) => ({ form: `\`${event}\``, text: JSON.stringify(data) }))
}

async function saidToEditor(events: readonly WholeEvent[], notices: boolean): Promise<Said> {
  const translation = new EditorTranslation({
    session: SAMPLE_SESSION,
    workspace: '/w',
    offers: { notices, compaction: false },
    fromStart: true,
    resourceOf: resourcesIn(events),
  })
  return ownOf(events)
    .flatMap((event) => translation.updates(updateOf(event), { own: true }))
    .map((update) => ({ form: `\`${update.sessionUpdate}\``, text: JSON.stringify(update) }))
}

async function saidOverTether(events: readonly WholeEvent[]): Promise<Said> {
  const end = endOf(turnResult(events, TURN))
  const form = end.type === 'done' ? '`notices` of `assistant.done`' : '`notices` of `error`'
  return [{ form, text: JSON.stringify(end.notices) }]
}

async function saidByInstance(events: readonly WholeEvent[]): Promise<Said> {
  const { notices } = endOf(turnResult(events, TURN))
  const frame = Frame.parse({
    v: 1,
    type: 'assistant.done',
    ts: '2026-01-31T12:00:00.000Z',
    session: { channel: 'host', id: 'default' },
    msg_id: 'm',
    seq: 1,
    payload: { text: 'Done.', status: 'completed', notices },
  })
  return [{ form: 'a line', text: new FrameWords().of(frame) }]
}

async function saidInTelegram(events: readonly WholeEvent[]): Promise<Said> {
  const { notices } = endOf(turnResult(events, TURN))
  const frame = { ...DONE, payload: { text: 'Done.', status: 'completed', notices } } as const
  const texts = stepsOf(Frame.parse(frame) as EndFrame, false).map((step) =>
    step.kind === 'text' ? step.text.text : '',
  )
  return [{ form: 'a message', text: texts.join('\n') }]
}

const DONE = {
  v: 1,
  type: 'assistant.done',
  ts: '2026-01-31T12:00:00.000Z',
  session: { channel: 'telegram', id: '42' },
  msg_id: 'm',
  seq: 1,
} as const

function ownOf(events: readonly WholeEvent[]): readonly WholeEvent[] {
  return events.filter(({ turn_id }) => turn_id === TURN)
}

function updateOf(event: WholeEvent): SessionUpdate {
  return { kind: 'event', raw: EventEnvelope.parse(event), event }
}

function lineOf(event: WholeEvent) {
  return { kind: 'line', whole: event, line: { logged: { event } } } as never
}

function collected(): Output & { text(): string } {
  const pieces: string[] = []
  return {
    isTTY: false,
    columns: 80,
    rows: 24,
    isBroken: false,
    failure: undefined,
    write: (text) => void pieces.push(text),
    flush: async () => {},
    text: () => pieces.join(''),
  }
}
