import { causeOf, type Result } from '../../../model/errors.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { BadPayload } from '../../../session/queries/resources.ts'
import { countOf } from '../../../encoding/amounts.ts'
import { visibleLine } from '../text/visible-text.ts'
import { good, problem, warning, type Check } from './check.ts'

const NAMED = 5

export function sessionsCheck(listed: Result<readonly ListedSession[]>): Check {
  if (!listed.ok) {
    if (causeOf(listed.error)?.type === 'never_used') return good('sessions', 'none yet')
    const text = `Not checked: ${visibleLine(listed.error.message)}`
    const plain = `Not checked: ${listed.error.kind}.`
    return warning('sessions', { text, plain }, { action: 'Fix the problems above first.' })
  }
  const damaged = listed.value.filter(({ damage }) => damage !== undefined)
  const foreign = listed.value.filter((one) => one.foreign).length
  const text = `${countOf(listed.value.length, 'Session')}, ${countOf(turnsOf(listed.value), 'Turn')}`
  const elsewhere = foreign === 0 ? '' : `, ${foreign} from elsewhere`
  const [first] = damaged
  if (first === undefined) return good('sessions', text + elsewhere)
  const names = damaged.slice(0, NAMED).map(({ id }) => id)
  const more = damaged.length > NAMED ? ` and ${damaged.length - NAMED} more` : ''
  const plain = `${text}${elsewhere}, ${damaged.length} damaged`
  return problem(
    'sessions',
    { text: `${plain}: ${names.join(', ')}${more}`, plain },
    { action: 'Verify it.', command: `hawser log verify ${first.id}` },
  )
}

/** The Instances that have records in this workspace, which are in that folder. */
export function instancesCheck(folder: string, instances: readonly string[]): Check {
  const named = instances.map(visibleLine).join(', ')
  const plain = `records of ${countOf(instances.length, 'Instance')}`
  return good('instances', `records in ${visibleLine(folder)}: ${named}`, plain)
}

/** Resources whose bytes are missing or damaged. Their Sessions continue without them and tell the model. */
export function payloadsCheck(bad: Result<readonly BadPayload[]>): Check {
  if (!bad.ok) {
    const text = `Not checked: ${visibleLine(bad.error.message)}`
    const plain = `Not checked: ${bad.error.kind}.`
    const next = bad.error.next_actions[0] ?? { action: 'Check the disk.' }
    return problem('resources', { text, plain }, next)
  }
  const [first] = bad.value
  if (first === undefined) return good('resources', 'all stored bytes are intact')
  const named = bad.value
    .slice(0, NAMED)
    .map((one) => `${one.handle} ${visibleLine(one.name)} of ${one.session} is ${one.state}`)
  const more = bad.value.length > NAMED ? [`and ${bad.value.length - NAMED} more`] : []
  const plain = `${countOf(bad.value.length, 'payload')} missing or damaged`
  return problem(
    'resources',
    { text: `${plain}: ${[...named, ...more].join(', ')}`, plain },
    {
      action: 'Attach the file again if it is needed. To list the Resources of the Session:',
      command: `hawser resources ${first.session}`,
    },
  )
}

function turnsOf(sessions: readonly ListedSession[]): number {
  return sessions.reduce((sum, { state }) => sum + state.turns, 0)
}
