import { historyOf, NO_STATE, type Checkpoint } from '../history/history.ts'
import { SessionResources } from '../history/session-resources.ts'
import { stateBefore } from '../history/resume-state.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import { LIMITS } from '../model/limits.ts'
import { utf8Bytes } from '../model/shape.ts'
import { decisionsIn } from './decisions.ts'

/** Facts that every later checkpoint repeats verbatim. */
export type CarriedFacts = NonNullable<Checkpoint['data']['carried']>

/** With more, the facts would be in a blob, and a checkpoint must not depend on one. */
export const CARRIED_BYTES = 60 * 1024

const MOST = 200

/** Bytes of JSON for each list. Their sum is less than `CARRIED_BYTES`. */
const BYTES = {
  open_tasks: 6 * 1024,
  decisions: 10 * 1024,
  skills: 3 * 1024,
  hydrations: 6 * 1024,
  resources: 10 * 1024,
  files_touched: 8 * 1024,
  tool_outcomes: 8 * 1024,
} as const

const BRACKETS = 1024

/**
 * What a checkpoint carries whose tail begins at number `from_seq`: the facts of the checkpoint in force, and those of the
 * Events since. What a person pinned, decided and planned is taken from all Events, everything else from those before the
 * tail, which shows the rest itself. Pure.
 */
export function carriedBefore(all: readonly WholeEvent[], from_seq: number): CarriedFacts {
  const history = historyOf(all)
  const earlier = history.checkpoint?.data.carried ?? NOTHING
  const before = history.events.filter(({ seq }) => seq < from_seq)
  const results = before.flatMap((event) => (event.type === 'tool_result' ? [event.data] : []))
  const changed = results.flatMap(({ path, after_blob }) =>
    path === undefined || after_blob === undefined ? [] : [path],
  )
  const resources = carriedResources(all, from_seq, before, earlier)
  const hydrations = before.flatMap(hydrationIn)
  const tasks = openTasks(history.events) ?? earlier.open_tasks
  const counted = earlier.counts
  const left = new Room(CARRIED_BYTES - BRACKETS)
  const pinned = left.takeFirst(keptPins(all), CARRIED_BYTES, Infinity)
  const open_tasks = left.takeFirst(tasks, BYTES.open_tasks)
  return {
    pinned,
    open_tasks,
    decisions: left.take(
      decisionsIn(history.events, new SessionResources(all), earlier.decisions),
      BYTES.decisions,
    ),
    skills: left.take(
      distinct([...earlier.skills, ...before.flatMap(skillIn)], ({ name, content_sha256 }) =>
        JSON.stringify([name, content_sha256]),
      ),
      BYTES.skills,
    ),
    hydrations: left.take([...earlier.hydrations, ...hydrations], BYTES.hydrations),
    resources: left.take(resources.all, BYTES.resources),
    files_touched: left.take(
      distinct([...earlier.files_touched, ...changed], (path) => path),
      BYTES.files_touched,
    ),
    tool_outcomes: left.take(
      [...earlier.tool_outcomes, ...results.map(outcomeOf)],
      BYTES.tool_outcomes,
    ),
    counts: {
      file_changes: (counted?.file_changes ?? 0) + changed.length,
      tool_outcomes: (counted?.tool_outcomes ?? 0) + results.length,
      resources: resources.count,
      hydrations: (counted?.hydrations ?? 0) + hydrations.length,
      open_tasks: openTasks(history.events)?.length ?? counted?.open_tasks ?? open_tasks.length,
    },
  }
}

/** The pinned texts in force, the oldest first: those of the checkpoint, and those since. */
export function pinnedTexts(all: readonly WholeEvent[]): string[] {
  const { checkpoint, events } = historyOf(all)
  const texts = new Set(checkpoint?.data.carried?.pinned)
  for (const event of events) {
    if (event.type === 'text_pinned') texts.add(event.data.text)
    if (event.type === 'text_unpinned') texts.delete(event.data.text)
  }
  return [...texts]
}

/** A Log of another origin may have pinned more than this version accepts. */
function keptPins(all: readonly WholeEvent[]): string[] {
  let left = LIMITS.pinned_text_bytes
  return pinnedTexts(all).filter((text) => {
    const bytes = utf8Bytes(text)
    if (bytes <= left) left -= bytes
    else return false
    return true
  })
}

const NOTHING: CarriedFacts = {
  pinned: [],
  open_tasks: [],
  decisions: [],
  skills: [],
  hydrations: [],
  resources: [],
  files_touched: [],
  tool_outcomes: [],
}

/** The entries of the last plan that are not completed; `undefined` if these Events have no plan. */
function openTasks(events: readonly WholeEvent[]): string[] | undefined {
  const plan = events.findLast((event) => event.type === 'plan_updated')
  return plan?.data.entries.flatMap(({ content, status }) =>
    status === 'completed' ? [] : [content],
  )
}

/** The newest Resources before the tail with their fate, and the number of all. */
function carriedResources(
  all: readonly WholeEvent[],
  from_seq: number,
  before: readonly WholeEvent[],
  earlier: CarriedFacts,
) {
  const state = stateBefore(all, from_seq)
  const fates = new Map(
    state.resources.map(({ descriptor, fate }) => [descriptor.resource_id, fate]),
  )
  for (const { type, data } of before) {
    if (type === 'resource_dropped' || type === 'resource_quarantined') {
      const fate = type === 'resource_dropped' ? 'dropped' : 'quarantined'
      fates.set(data.resource_id, fates.get(data.resource_id) ?? fate)
    }
  }
  const added = new SessionResources({ state: NO_STATE, events: before }).all
  const known = [...earlier.resources, ...added.map(({ descriptor }) => descriptor)]
  const carried = known.map(({ resource_id, handle, name, ...rest }) => {
    const fate = ('fate' in rest ? rest.fate : undefined) ?? fates.get(resource_id)
    return {
      resource_id,
      handle,
      name,
      ...(fate === undefined ? {} : { fate }),
      ...('uri' in rest && rest.uri !== undefined ? { uri: rest.uri } : {}),
      ...('not_copied' in rest && rest.not_copied !== undefined
        ? { not_copied: rest.not_copied }
        : {}),
    }
  })
  return { all: carried, count: state.resources_count ?? carried.length }
}

function skillIn(event: WholeEvent): CarriedFacts['skills'] {
  if (event.type !== 'skill_activation') return []
  const { name, content_sha256 } = event.data
  return [{ name, content_sha256 }]
}

function hydrationIn(event: WholeEvent): CarriedFacts['hydrations'] {
  if (event.type !== 'skill_context_hydration') return []
  const { context_source_id, skill, status, output_bytes, output_sha256, truncated } = event.data
  const { name, content_sha256 } = skill
  const evidence = { skill: { name, content_sha256 }, status, output_bytes, output_sha256 }
  const cut = truncated === true ? { truncated } : {}
  return [{ event_id: event.id, context_source_id, ...evidence, ...cut }]
}

function outcomeOf({ call_id, name, outcome }: EventData<'tool_result'>) {
  return { call_id, name, outcome }
}

/** Each value once, at its last place. */
function distinct<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  const last = new Map<string, T>()
  for (const value of values) {
    last.delete(keyOf(value))
    last.set(keyOf(value), value)
  }
  return [...last.values()]
}

/** The bytes of JSON that are left for all lists. */
class Room {
  #bytesLeft: number

  constructor(bytes: number) {
    this.#bytesLeft = bytes
  }

  /** The newest values that fit, in order. */
  take<T>(values: readonly T[], bytes: number): T[] {
    return this.takeFirst(values.toReversed(), bytes).toReversed()
  }

  /** The first values that fit. */
  takeFirst<T>(values: readonly T[], bytes: number, most = MOST): T[] {
    let own = Math.min(bytes, this.#bytesLeft)
    const taken: T[] = []
    for (const value of values.slice(0, most)) {
      const size = utf8Bytes(JSON.stringify(value)) + 1
      if (size > own) break
      own -= size
      this.#bytesLeft -= size
      taken.push(value)
    }
    return taken
  }
}
