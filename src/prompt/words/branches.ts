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

/**
 * The text that a person takes along from a branch. It is pinned, so it has a limit: as many of the newest entries as fit into
 * `bytes`, and at least one of each list.
 */
export function branchSummary(facts: BranchFacts, bytes = Infinity): string {
  const texts = MOST.map((most) => summaryOf(facts, most))
  return texts.find((text) => Buffer.byteLength(text) <= bytes) ?? texts.at(-1) ?? ''
}

/** How many entries a list has: each number is tried if more do not fit. */
const MOST = [15, 10, 6, 3, 1] as const
const ENTRY_BYTES = 100

function summaryOf({ turns, ...facts }: BranchFacts, most: number): string {
  const { from, to } = turns
  const which = from === to ? `Turn ${from}` : `Turns ${from} to ${to}`
  const lists = [
    ...list('Files that write and edit changed there', facts.files, most),
    ...list('Commands there that could change files', facts.commands, most),
    ...list('Decisions of the person there', facts.decisions, most),
    ...list('Open tasks of its plan', facts.open_tasks, most),
  ]
  return [
    `The person left another branch of this conversation: ${which}, not shown here. These are recorded facts, not everything that happened. What it changed in files may have been undone since.`,
    ...lists,
    ...(lists.length === 0 ? ['It changed no files and ran no commands, as far as recorded.'] : []),
  ].join('\n')
}

/** The newest entries. */
function list(heading: string, entries: readonly string[], most: number): string[] {
  if (entries.length === 0) return []
  const shown = entries.slice(-most)
  const all = shown.length === entries.length ? '' : ` (the last ${most} of ${entries.length})`
  return [`${heading}${all}:`, ...shown.map((entry) => `- ${quote(shorten(entry, ENTRY_BYTES))}`)]
}
