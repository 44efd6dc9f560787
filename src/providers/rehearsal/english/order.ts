import type { Call, Reading } from './call.ts'

/** Puts calls that may run in parallel into one group; groups run in order. */
export function inOrder(readings: readonly Reading[]): Call[][] {
  const groups: Call[][] = []
  for (const { calls = [], waits = false } of readings) {
    for (const [index, call] of calls.entries()) {
      const last = groups.at(-1)
      const apart = (waits && index === 0) || last?.some((earlier) => needs(call, earlier))
      if (last === undefined || apart === true) groups.push([call])
      else last.push(call)
    }
  }
  return groups
}

/** Whether a call depends on an earlier one, although the text does not say "then". */
function needs({ name, arguments: args }: Call, earlier: Call): boolean {
  if (earlier.name === 'bash') return name === 'attach'
  const path = JSON.stringify(earlier.arguments['path'] ?? '').slice(1, -1)
  const isAboutIt = JSON.stringify(args).includes(path)
  if (earlier.name === 'read') return CHANGES.has(name) && isAboutIt
  return CHANGES.has(earlier.name) && (isAboutIt || name === 'grep' || name === 'glob')
}

const CHANGES = new Set(['write', 'edit'])
