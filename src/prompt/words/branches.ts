import { quote, shorten } from '../../encoding/quote.ts'

// What a model reads about a branch that the person left. Every sentence of this folder is part of the Prompt Contract: see
// `version.ts`.

interface BranchFacts {
  readonly turns: { readonly from: number; readonly to: number }
  readonly files: readonly string[]
  readonly commands: readonly string[]
  readonly decisions: readonly string[]
  readonly open_tasks: readonly string[]
}

/** The text that a person takes along from a branch. It is pinned, so it has a limit. */
export function branchSummary({ turns, ...facts }: BranchFacts): string {
  const { from, to } = turns
  const which = from === to ? `Turn ${from}` : `Turns ${from} to ${to}`
  const lists = [
    ...list('Files that write and edit changed there', facts.files),
    ...list('Commands there that could change files', facts.commands),
    ...list('Decisions of the person there', facts.decisions),
    ...list('Open tasks of its plan', facts.open_tasks),
  ]
  return [
    `The person left another branch of this conversation: ${which}, not shown here. These are recorded facts, not everything that happened. What it changed in files may have been undone since.`,
    ...lists,
    ...(lists.length === 0 ? ['It changed no files and ran no commands, as far as recorded.'] : []),
  ].join('\n')
}

const MOST = 15
const ENTRY_BYTES = 100

/** The newest entries. */
function list(heading: string, entries: readonly string[]): string[] {
  if (entries.length === 0) return []
  const shown = entries.slice(-MOST)
  const all = shown.length === entries.length ? '' : ` (the last ${MOST} of ${entries.length})`
  return [`${heading}${all}:`, ...shown.map((entry) => `- ${quote(shorten(entry, ENTRY_BYTES))}`)]
}
