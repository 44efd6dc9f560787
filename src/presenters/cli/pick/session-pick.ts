import { countOf } from '../../../encoding/amounts.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { Harness } from '../../../session/harness.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import { branchOf, sessionTree } from '../render/session-tree.ts'
import { localTime } from '../text/local-time.ts'
import type { PickerOrder } from './picker.ts'

/** What the picker shows of a Session that its list does not have. */
export interface SessionEnd {
  readonly message: string
  readonly branch?: string | undefined
}

export type ReadSessionEnd = (id: SessionId) => Promise<SessionEnd>

/** The last message of a person, and the branch at that time; read from the Log when the Session is chosen. */
export function sessionEnds(harness: Pick<Harness, 'read'>): ReadSessionEnd {
  return async (id) => {
    let end: SessionEnd = { message: '' }
    await harness.read(id, { types: ['user_message', 'late_context'] }, ({ event }) => {
      if (event?.type === 'user_message' && event.data.text !== '')
        end = { ...end, message: event.data.text }
      if (event?.type === 'late_context') end = { ...end, branch: event.data.branch }
    })
    return end
  }
}

/**
 * The Sessions of a folder to choose from: families with the latest Session first, each fork below its parent. The latest one that
 * is not `current` is chosen at first. `changed`: more is known of one.
 */
export function sessionOrder(
  sessions: readonly ListedSession[],
  readEnd: ReadSessionEnd,
  changed: () => void,
  current?: SessionId,
): PickerOrder<SessionId> {
  const ends = new Map<SessionId, SessionEnd | undefined>()
  const endOf = (id: SessionId) => {
    if (!ends.has(id)) {
      ends.set(id, undefined)
      void readEnd(id).then((end) => {
        ends.set(id, end)
        changed()
      })
    }
    return ends.get(id)
  }
  const rows = sessionTree(sessions)
  const latest = sessions.find(({ id }) => id !== current)
  return {
    title: 'Sessions of this folder',
    first: Math.max(
      0,
      rows.findIndex(({ session }) => session === latest),
    ),
    choices: rows.map(({ session: { id, state }, depth }) => ({
      value: id,
      name: `${branchOf(depth)}${state.title === '' ? '(no messages yet)' : state.title}`,
      columns: [
        localTime(state.last_ts),
        countOf(state.turns, 'Turn'),
        ...(id === current ? ['this one'] : []),
      ],
      words: id,
    })),
    preview: (id) => {
      const { message = '…', branch } = endOf(id) ?? {}
      const model = sessions.find((one) => one.id === id)?.state.model
      const facts = [...(branch === undefined ? [] : [`branch ${branch}`]), model ?? '', id]
      return [firstLines(message), facts.filter((fact) => fact !== '').join(' · ')]
    },
  }
}

const LONGEST_MESSAGE = 240

function firstLines(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  if (line === '') return '(no message)'
  return `> ${line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line}`
}
