import * as z from 'zod'
import { openObject, type Frozen } from './shape.ts'

const answer = z.enum(['allow', 'deny'])

/** What a person allowed or denied in advance. Paths and folders are relative to the workspace; `.` is the workspace. */
export const Rule = z.discriminatedUnion('kind', [
  /** The same text in the same folder. */
  openObject(() => ({
    kind: z.literal('command'),
    answer,
    command: z.string(),
    folder: z.string(),
  })),
  /** Every command that starts with these words. */
  openObject(() => ({ kind: z.literal('prefix'), answer, words: z.array(z.string()).min(1) })),
  openObject(() => ({ kind: z.literal('file'), answer, path: z.string() })),
  /** Every file in the folder, at any depth. */
  openObject(() => ({ kind: z.literal('folder'), answer, path: z.string() })),
  /** Sending bytes of any Resource to the model. */
  openObject(() => ({ kind: z.literal('upload'), answer })),
])
export type Rule = Frozen<z.infer<typeof Rule>>

/** How long a rule lasts: as long as the process, or until it is removed. */
export type RuleScope = 'session' | 'workspace'

/** A rule that applies to a call. `once`: a Skill that is active in this Turn lends it. */
export interface AppliedRule {
  readonly rule: Rule
  readonly scope: RuleScope | 'once'
}

export interface ScopedRule extends AppliedRule {
  readonly scope: RuleScope
}

/** Describes what a rule covers. Does not escape control characters. */
export function ruleSubject(rule: Rule): string {
  switch (rule.kind) {
    case 'command':
      return `the command ${inBackticks(rule.command)} in ${folderName(rule.folder)}`
    case 'prefix':
      return `commands that start with ${inBackticks(prefixText(rule.words))}`
    case 'file':
      return `changes to ${rule.path}`
    case 'folder':
      return `changes to files in ${folderName(rule.path)}`
    case 'upload':
      return 'sending attached files to the model'
    default:
      return rule satisfies never
  }
}

/** The words as a person types them, quoted where the shell requires it. */
export function prefixText(words: readonly string[]): string {
  return words
    .map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')
}

const PLAIN_WORD = /^[\w@%+=:,./-]+$/

function folderName(folder: string): string {
  return folder === '.' ? 'the workspace' : folder
}

function inBackticks(text: string): string {
  return `\`${text}\``
}
