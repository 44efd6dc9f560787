import { NEVER_USED } from '../../../host/workspace.ts'
import type { Result } from '../../../model/errors.ts'
import type { ListedSession } from '../../../session/list.ts'
import { counted } from '../amounts.ts'
import { visibleLine } from '../visible-text.ts'
import { good, problem, warning, type Check } from './check.ts'

const NAMED = 5

export function sessionsCheck(listed: Result<readonly ListedSession[]>): Check {
  if (!listed.ok) {
    if (listed.error.details['reason'] === NEVER_USED) return good('sessions', 'none yet')
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

function turnsOf(sessions: readonly ListedSession[]): number {
  return sessions.reduce((sum, { state }) => sum + state.turns, 0)
}
