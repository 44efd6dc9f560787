import type { When } from './words/timing.ts'
import type { Call } from './reading.ts'

/** The calls of one clause, and when it wants them. */
export interface Timed {
  readonly calls: readonly Call[]
  readonly when: When
  /** Its sentence has asked for nothing before it. */
  readonly leads: boolean
  /** One after the other, in so many words. */
  readonly apart: boolean
}

/** Calls that may be made at once stand together; the groups follow one another. */
export function arrange(clauses: readonly Timed[]): Call[][] {
  const groups: Call[][] = []
  let deferred: Call[] = []
  let separate = false
  for (const { calls, when, leads } of clauses.flatMap(takenApart)) {
    if (calls.length === 0) continue
    const group = [...calls]
    const last = groups.at(-1)
    if (when === 'before' && leads) deferred = group
    else if (when === 'first' || (when === 'after' && !leads))
      groups.splice(Math.max(0, groups.length - 1), 0, group)
    else if (when === 'now' && last !== undefined && !separate) last.push(...group)
    else groups.push(group)
    separate = when === 'after' && leads
    if (deferred.length > 0 && when !== 'before') groups.push(deferred.splice(0))
  }
  return [...groups, deferred].flatMap(separated).filter((group) => group.length > 0)
}

function takenApart(clause: Timed): Timed[] {
  if (!clause.apart) return [clause]
  return clause.calls.map((call, index) => ({
    ...clause,
    calls: [call],
    when: index === 0 ? clause.when : 'then',
  }))
}

/** Within a group, what needs the outcome of an earlier call waits for it. */
function separated(group: readonly Call[]): Call[][] {
  const groups: Call[][] = []
  for (const call of group) {
    const needed = groups.findLastIndex((earlier) =>
      earlier.some((other) => dependsOn(call, other)),
    )
    const place = groups[needed + 1]
    if (place === undefined) groups.push([call])
    else place.push(call)
  }
  return groups
}

/** Whether `call` must see what `earlier` wrote. */
function dependsOn(call: Call, earlier: Call): boolean {
  if (earlier.name !== 'write' && earlier.name !== 'edit') return writesWhatIsRead(call, earlier)
  const written = textAt(earlier, 'path')
  if (call.name === 'bash') return textAt(call, 'command').includes(written)
  if (call.name === 'grep' || call.name === 'glob') return isBelow(written, textAt(call, 'path'))
  return textAt(call, 'path') === written
}

function writesWhatIsRead(call: Call, earlier: Call): boolean {
  // A command may make the file that is to be attached.
  if (call.name === 'attach' && earlier.name === 'bash')
    return textAt(earlier, 'command').includes(textAt(call, 'path'))
  const writes = call.name === 'write' || call.name === 'edit'
  return writes && earlier.name === 'read' && textAt(call, 'path') === textAt(earlier, 'path')
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || folder === '.' || path === folder || path.startsWith(`${folder}/`)
}

function textAt(call: Call, key: string): string {
  const value = call.arguments[key]
  return typeof value === 'string' ? value : ''
}
