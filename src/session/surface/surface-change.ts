import { canonicalJson } from '../../encoding/json.ts'
import { UNTRUSTED_HEADING } from '../../prompt/words/skills.ts'
import type { Surface } from '../../model/surface.ts'

/** What differs between two surfaces, in words for a person; at least one difference is named. Pure. */
export function surfaceChange(before: Surface, after: Surface): string {
  const named = [
    ...differences('Skills', skillsOf(before), skillsOf(after)),
    ...differences('tools', toolsOf(before), toolsOf(after)),
    ...(before.system[0] === after.system[0] ? [] : ['the instructions of Hawser changed']),
    ...(sameSettings(before, after) ? [] : ['the settings of the model changed']),
  ]
  return named.length === 0 ? 'the list of Skills changed' : named.join('; ')
}

/** The entries of the index by the names of their Skills. */
function skillsOf({ system: [, index = ''] }: Surface): ReadonlyMap<string, string> {
  const entries = new Map<string, string>()
  for (const line of index.split('\n')) {
    const name = /^- ([^:]+): /.exec(line)?.[1]
    if (name !== undefined) entries.set(name, line)
    if (!line.startsWith(UNTRUSTED_HEADING)) continue
    for (const one of line.slice(UNTRUSTED_HEADING.length).split(',')) entries.set(one.trim(), '')
  }
  return entries
}

function toolsOf({ tools }: Surface): ReadonlyMap<string, string> {
  return new Map(tools.map((tool) => [tool.name, canonicalJson(tool)]))
}

function sameSettings(before: Surface, after: Surface): boolean {
  return (
    before.model === after.model && canonicalJson(before.params) === canonicalJson(after.params)
  )
}

/** By name: what only one has, and what both have in different forms. */
function differences(
  kind: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const changes = {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after].flatMap(([name, entry]) =>
      before.has(name) && before.get(name) !== entry ? [name] : [],
    ),
  }
  return Object.entries(changes).flatMap(([change, names]) =>
    names.length === 0 ? [] : [`${kind} ${change}: ${someOf(names)}`],
  )
}

const MOST_NAMES = 10

function someOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  const shown = names.slice(0, MOST_NAMES).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}
