import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { SessionId, TurnId } from '../../model/ids.ts'
import type { Harness } from '../harness.ts'
import type { ClientOptions } from '../admission/attach-options.ts'
import type { Session } from '../session.ts'

/** The end of an id, long enough to be intentional. */
const ENDING = /^[0-9a-z]{4,26}$/

/**
 * Resolves a Session reference: a whole id, its last characters, or `latest` (default). Anything else is refused and
 * never becomes a path.
 */
export async function sessionNamed(
  harness: Harness,
  named: unknown = 'latest',
): Promise<Result<SessionId>> {
  const whole = SessionId.safeParse(named)
  if (whole.success) return ok(whole.data)
  if (named === 'latest') {
    const [latest] = await harness.list()
    return latest === undefined ? none('No Sessions in this folder yet.') : ok(latest.id)
  }
  if (typeof named !== 'string' || !ENDING.test(named)) return notAnId()
  const found = (await harness.list()).filter(({ id }) => id.endsWith(named))
  const [only] = found
  if (only === undefined) return none(`No Session here has an id ending in "${named}".`)
  if (found.length === 1) return ok(only.id)
  return failed(
    'invalid_args',
    `${found.length} Sessions have an id ending in "${named}". Pass more of the id.`,
    {
      sessions: found.map(({ id }) => id),
    },
  )
}

/** Whether a word names a Session here. What begins like an id counts as one, also if it has a mistake. */
export async function namesSession(harness: Harness, word: string): Promise<boolean> {
  if (word === 'latest' || word.startsWith('ses_')) return true
  if (!ENDING.test(word)) return false
  return (await harness.list()).some(({ id }) => id.endsWith(word))
}

export async function openNamed(
  harness: Harness,
  named: unknown,
  client: ClientOptions = {},
): Promise<Result<Session>> {
  const id = await sessionNamed(harness, named)
  return id.ok ? harness.open(id.value, client) : id
}

/** Resolves a Turn reference: its id, or its number in the Session, from 1. `undefined` if none is given. */
export async function turnNamed(
  logs: { readonly read?: Harness['read'] | undefined },
  session: Session,
  named: unknown,
): Promise<Result<TurnId | undefined>> {
  if (named === undefined) return ok(undefined)
  const turns: TurnId[] = []
  const read = await logs.read?.(session.id, { types: [] }, ({ raw: { type, turn_id } }) => {
    if (type === 'turn_started' && turn_id !== undefined) turns.push(turn_id)
  })
  if (read?.ok === false) return read
  const whole = TurnId.safeParse(named)
  const number =
    typeof named === 'string' && /^[1-9]\d{0,8}$/.test(named) ? Number(named) : undefined
  const turn = whole.success ? turns.find((one) => one === whole.data) : turns[(number ?? 0) - 1]
  if (turn !== undefined) return ok(turn)
  return failed('not_found', 'No such Turn in this Session.', { turns: turns.length }, [
    { action: 'Show the Turns of the Session.', command: `hawser log show ${session.id}` },
  ])
}

function none(message: string): Failed {
  return failed('not_found', message, {}, [
    { action: 'List the Sessions of this folder.', command: 'hawser sessions' },
  ])
}

function notAnId(): Failed {
  return failed(
    'invalid_args',
    'Invalid Session id. Expected an id such as ses_01kg8m2q3r4s5t6v7w8x9y0z12, the end of one, or latest.',
    {},
    [{ action: 'List the Sessions of this folder.', command: 'hawser sessions' }],
  )
}
