import { countOf } from '../../../../encoding/amounts.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import type { SessionId } from '../../../../model/ids.ts'
import type { ListedSession } from '../../../../session/queries/list.ts'
import type { Session } from '../../../../session/session.ts'
import { sessionOrder } from '../../pick/session-pick.ts'
import { sentences, verbatim } from '../../screen/rows.ts'
import type { Line } from '../../text/cell-width.ts'
import { localTime } from '../../text/local-time.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

const MOST_LISTED = 20

/** Starts a Session with the settings of this one, which is kept. With `clears`, the screen is cleared first. */
export async function begin(
  { session, actions, columns, busy }: CommandContext,
  argument: string,
  clears: boolean,
): Promise<Result<CommandResult>> {
  if (busy) return stillRunning()
  const cleared = clears ? ({ clears } as const) : {}
  const { turns, title } = session.state
  const begun = await actions.begin?.(session)
  if (begun === undefined) return ok({ rows: [], ...cleared })
  if (!begun.ok) return begun
  const kept = title === '' ? session.id : `"${visibleLine(title)}"`
  const how = `The Session before is kept: ${kept}. To continue it: /resume ${session.id}`
  const rows = turns === 0 ? [] : sentences(how, { columns, style: { dim: true } })
  const first = argument === '' ? {} : { send: argument }
  return ok({ rows, goTo: begun.value, ...cleared, ...first })
}

/** Lets the person choose a Session of this folder, or switches to the one they name. */
export async function sessions(
  context: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const { actions, session, columns } = context
  const all = await actions.sessions()
  if (argument === '' && actions.sessionEnd !== undefined) {
    const usable = all.filter(isUsable)
    if (usable.every(({ id }) => id === session.id))
      return ok({ rows: sentences('There is no other Session in this folder.', { columns }) })
    return switchTo(
      context,
      await context.pick(sessionOrder(usable, actions.sessionEnd, context.redraw, session.id)),
    )
  }
  if (argument === '') return ok({ rows: listedRows(all, context) })
  const chosen = all.find(({ id }, at) => id === argument || String(at + 1) === argument)
  if (chosen === undefined) return failed('not_found', 'No such Session in this folder.')
  if (chosen.id === session.id)
    return failed('invalid_args', 'This is already the current Session.')
  if (context.busy) return stillRunning()
  return going(await actions.open(chosen.id))
}

function listedRows(
  all: readonly ListedSession[],
  { session, columns }: CommandContext,
): readonly Line[] {
  const listed = all
    .slice(0, MOST_LISTED)
    .flatMap((one, at) =>
      verbatim(listedWords(one, session.id), { columns, first: `${at + 1} `.padStart(4) }),
    )
  const more = all.length > MOST_LISTED ? [`and ${countOf(all.length - MOST_LISTED, 'more')}`] : []
  const how = ['/sessions NUMBER switches to one', ...more].join('; ')
  return [[], ...listed, ...sentences(`${how}.`, { columns, style: { dim: true } })]
}

function listedWords({ id, state, damage, foreign }: ListedSession, current: SessionId): string {
  const title = state.title === '' ? '(no messages yet)' : state.title
  const notes = [
    ...(id === current ? ['current'] : []),
    ...(foreign ? ['from elsewhere'] : []),
    ...(damage === undefined ? [] : ['damaged']),
  ]
  const time = localTime(state.last_ts)
  return [title, countOf(state.turns, 'Turn'), time, id, ...notes].join(' · ')
}

/** Continues in a fork of this Session, or in one that it is related to. With `new`, and without relatives, it asks nothing. */
export async function fork(context: CommandContext, argument = ''): Promise<Result<CommandResult>> {
  const { session, actions, busy } = context
  if (busy) return stillRunning()
  if (argument !== '' && argument !== 'new')
    return failed('invalid_args', 'Use /fork, or /fork new to create one without a choice.')
  const family = (await actions.sessions()).filter(
    (one) => one.state.root_session_id === session.state.root_session_id && isUsable(one),
  )
  if (argument === '' && family.length > 1 && actions.sessionEnd !== undefined) {
    const { choices, preview } = sessionOrder(
      family,
      actions.sessionEnd,
      context.redraw,
      session.id,
    )
    const id = await context.pick<SessionId | 'new'>({
      title: 'Forks of this conversation',
      choices: [{ value: 'new', name: 'Fork here: continue in a new Session' }, ...choices],
      preview: (chosen) => (chosen === 'new' ? [] : (preview?.(chosen) ?? [])),
    })
    if (id !== 'new') return switchTo(context, id)
  }
  const forked = await actions.fork?.(session)
  return forked === undefined ? ok({ rows: [] }) : going(forked)
}

function isUsable({ foreign, damage }: ListedSession): boolean {
  return !foreign && damage === undefined
}

/** Nothing was chosen, or where the person already is: everything stays. */
async function switchTo(
  { session, actions, busy }: CommandContext,
  id: SessionId | undefined,
): Promise<Result<CommandResult>> {
  if (id === undefined || id === session.id) return ok({ rows: [] })
  return busy ? stillRunning() : going(await actions.open(id))
}

/** A Turn must end first. */
export function stillRunning(): Result<never> {
  return failed('turn_in_progress', 'A Turn is running in this Session.', {}, [
    { action: 'Wait for it to end, or press Ctrl-C to interrupt it.' },
  ])
}

function going(opened: Result<Session>): Result<CommandResult> {
  return opened.ok ? ok({ rows: [], goTo: opened.value }) : opened
}
