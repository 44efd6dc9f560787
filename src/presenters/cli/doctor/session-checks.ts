import { causeOf, type Result } from '../../../model/errors.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { BadPayload } from '../../../session/queries/resources.ts'
import { counted } from '../../../encoding/amounts.ts'
import { visibleLine } from '../text/visible-text.ts'
import { good, problem, warning, type Check } from './check.ts'

const NAMED = 5

export function sessionsCheck(listed: Result<readonly ListedSession[]>): Check {
  if (!listed.ok) {
    if (causeOf(listed.error)?.type === 'never_used') return good('sessions', 'none yet')
    const text = `They were not looked at: ${visibleLine(listed.error.message)}`
    const plain = `They were not looked at: ${listed.error.kind}.`
    return warning('sessions', { text, plain }, { action: 'First mend what stands above.' })
  }
  const damaged = listed.value.filter(({ damage }) => damage !== undefined)
  const foreign = listed.value.filter((one) => one.foreign).length
  const text = `${counted(listed.value.length, 'Session')}, ${counted(turnsOf(listed.value), 'Turn')}`
  const elsewhere = foreign === 0 ? '' : `, ${foreign} from elsewhere`
  const [first] = damaged
  if (first === undefined) return good('sessions', text + elsewhere)
  const names = damaged.slice(0, NAMED).map(({ id }) => id)
  const more = damaged.length > NAMED ? ` and ${damaged.length - NAMED} more` : ''
  const plain = `${text}${elsewhere}, ${damaged.length} damaged`
  return problem(
    'sessions',
    { text: `${plain}: ${names.join(', ')}${more}`, plain },
    { action: 'See what is wrong with it.', command: `hawser log verify ${first.id}` },
  )
}

/** Bytes that were attached and cannot be shown again. The Sessions go on without them, and say so to the model. */
export function payloadsCheck(bad: Result<readonly BadPayload[]>): Check {
  if (!bad.ok) {
    const text = `They could not be looked at: ${visibleLine(bad.error.message)}`
    const plain = `They could not be looked at: ${bad.error.kind}.`
    const next = bad.error.next_actions[0] ?? { action: 'Look at the disk.' }
    return problem('resources', { text, plain }, next)
  }
  const [first] = bad.value
  if (first === undefined) return good('resources', 'all attached bytes are there and whole')
  const named = bad.value
    .slice(0, NAMED)
    .map((one) => `${one.handle} ${visibleLine(one.name)} of ${one.session} is ${one.state}`)
  const more = bad.value.length > NAMED ? [`and ${bad.value.length - NAMED} more`] : []
  const plain = `${counted(bad.value.length, 'payload')} missing or damaged`
  return problem(
    'resources',
    { text: `${plain}: ${[...named, ...more].join(', ')}`, plain },
    {
      action: 'Attach the file again where it is needed; see what the Session has:',
      command: `hawser resources ${first.session}`,
    },
  )
}

function turnsOf(sessions: readonly ListedSession[]): number {
  return sessions.reduce((sum, { state }) => sum + state.turns, 0)
}
