/** Who implements a requirement. A finished owner has a test for each of its rows. */
export const OWNERS = [
  'foundations',
  'turn',
  'terminal',
  'dialects',
  'wire',
  'resources',
  'families',
  'compaction',
  'pressure',
  'skills',
  'acp',
  'http',
  'web',
  'tether',
  'telegram',
  'mcp',
  'agent-sdk',
  'faces',
  'later',
] as const

export type Owner = (typeof OWNERS)[number]

/** The documents that state requirements, by the letters of their ids. */
export const DOCUMENTS = {
  SR: 'session-resources',
  TI: 'tether-images',
  PC: 'prompt-contract',
  SH: 'skill-hydration',
  AT: 'attachments',
  AR: 'architecture',
} as const satisfies Readonly<Record<string, string>>

export type Progress = 'planned' | 'begun' | 'finished'

/** One promised behaviour. */
export interface Requirement {
  /** Two letters for the document and three digits; never reused for another behaviour. */
  readonly id: string
  /** The document and the sections that state it: `label:section,section`. */
  readonly source: string
  readonly owner: Owner
  readonly text: string
  /** The decision where the documents conflict or have a gap; it takes precedence. */
  readonly ruling?: string
}
