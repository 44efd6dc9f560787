/** Who makes a requirement true. A finished owner has a test for each of its rows. */
export const OWNERS = [
  'foundations',
  'turn',
  'terminal',
  'dialects',
  'wire',
  'resources',
  'families',
  'compaction',
  'skills',
  'acp',
  'http',
  'web',
  'tether',
  'telegram',
  'mcp',
  'agent-sdk',
  'later',
] as const

export type Owner = (typeof OWNERS)[number]

/** One promised behaviour. */
export interface Requirement {
  /** Two letters of the document and three digits; never given to another behaviour. */
  readonly id: string
  /** The document and the places in it that say so: `label:section,section`. */
  readonly source: string
  readonly owner: Owner
  readonly text: string
  /** What was decided where the documents disagree or leave a gap; it wins over them. */
  readonly ruling?: string
}
