import type { AppliedRule, Rule } from '../model/rule.ts'
import { plainPath, prefixRule } from './rules.ts'

/** An activation, as far as it can lend permissions. */
export interface LendingSkill {
  readonly trust: string
  /** Such as `Bash(git diff:*)`, `Write(notes.md)`, `Edit(docs/**)`. */
  readonly allowed_tools?: readonly string[] | undefined
}

/**
 * The rules that the Skills active in a Turn lend to it. They only replace a question that a rule of the person could
 * replace too: deny rules, protected paths, the network and the read-only mode are decided before them. What cannot be
 * expressed as a rule, or is as broad as a whole tool, lends nothing. Pure.
 */
export function lentRules(active: readonly LendingSkill[]): AppliedRule[] {
  const trusted = active.filter(({ trust }) => trust === 'user' || trust === 'trusted')
  const rules = trusted.flatMap(({ allowed_tools = [] }) => allowed_tools.flatMap(ruleFor))
  return rules.map((rule) => ({ rule, scope: 'once' }))
}

function ruleFor(entry: string): Rule[] {
  const [, tool = '', text = ''] = /^([A-Za-z]+)\(([^()]+)\)$/.exec(entry) ?? []
  const rule = RULES.get(tool.toLowerCase())?.(text.trim())
  return rule === undefined ? [] : [rule]
}

const RULES: ReadonlyMap<string, (text: string) => Rule | undefined> = new Map([
  ['bash', commandRule],
  ['write', fileRule],
  ['edit', fileRule],
])

/** `git diff:*` and `git diff *` are prefixes; a text without a wildcard is one command at the root of the workspace. */
function commandRule(text: string): Rule | undefined {
  const prefix = /^([^*]*[^*\s:])(?::\*| \*)$/.exec(text)?.[1]
  if (prefix !== undefined) {
    const rule = prefixRule(prefix, 'allow')
    return rule.ok ? rule.value : undefined
  }
  if (text === '' || text.includes('*')) return undefined
  return { kind: 'command', answer: 'allow', command: text, folder: '.' }
}

/** `docs/**` is a folder; a path without a wildcard is one file. Neither leads out of the workspace or is all of it. */
function fileRule(text: string): Rule | undefined {
  const folder = /^(.*[^/])\/\*\*$/.exec(text)?.[1]
  const path = folder ?? text
  if (/[*?[\]{}\\]/.test(path) || /^[/~]|^[A-Za-z]:/.test(path)) return undefined
  if (path.split('/').includes('..')) return undefined
  const plain = plainPath(path)
  if (plain === '.') return undefined
  return { kind: folder === undefined ? 'file' : 'folder', answer: 'allow', path: plain }
}
