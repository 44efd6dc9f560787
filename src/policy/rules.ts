import { failed, ok, type Result } from '../model/errors.ts'
import { prefixText, type Rule, type RuleScope, type AppliedRule } from '../model/rule.ts'
import type { Claim } from './claim.ts'
import { splitCommand, type CommandPart } from './command-line.ts'
import { lossesOf, showsLoss } from './losses.ts'
import { isFilter, programOf, startsOthers, tooWide, usualPrefix } from './launchers.ts'

/** The outcome of the rules for a call. `unclear`: a deny rule may apply, and only a person can decide. */
export type Ruling =
  | { readonly answer: 'allow' | 'deny'; readonly by: readonly AppliedRule[] }
  | { readonly answer: 'unclear' | 'none' }

/** A rule that an approval may create, and how long it may last. */
export interface Offer {
  readonly rule: Rule
  readonly scopes: readonly RuleScope[]
  /** Present if a person may edit the rule: parses the edited text and checks that it covers this call. */
  readonly reword?: (text: string) => Result<Rule>
}

/** Applies rules to a call that changes a file or runs a program. Deny rules win. Pure. */
export function ruling(claim: Claim, rules: readonly AppliedRule[]): Ruling {
  const denying = rules.filter(({ rule }) => rule.answer === 'deny')
  const allowing = rules.filter(({ rule }) => rule.answer === 'allow')
  if (claim.effect === 'run') return commandRuling(claim, allowing, denying)
  const denied = denying.find(({ rule }) => claim.paths.some((path) => deniesPath(rule, path)))
  if (denied !== undefined) return { answer: 'deny', by: [denied] }
  const place = claim.paths.at(-1)
  const allowed = allowing.find(({ rule }) => place !== undefined && allowsPath(rule, place))
  return allowed === undefined ? NONE : { answer: 'allow', by: [allowed] }
}

/**
 * The rules of the person that allow what a command destroys; empty if they do not cover all of it. A rule covers it only
 * if it shows the loss itself: the same command, or a prefix such as `git reset --hard`. Rules that a Skill lends do not
 * count. Pure.
 */
export function lossAllowedBy(claim: Claim, rules: readonly AppliedRule[]): readonly AppliedRule[] {
  const { command = '' } = claim
  const own = rules.filter(({ rule, scope }) => rule.answer === 'allow' && scope !== 'once')
  const same = own.find(({ rule }) => isSameCommand(rule, command, folderOf(claim)))
  if (same !== undefined) return [same]
  const losing = splitCommand(command)?.filter(({ text }) => lossesOf(text).length > 0) ?? []
  const grants = losing.map((part) =>
    own.find(
      ({ rule }) => allowsPart(rule, part) && rule.kind === 'prefix' && showsLoss(rule.words),
    ),
  )
  return grants.every((grant) => grant !== undefined) ? [...new Set(grants)] : []
}

/** The rule for this very command. */
export function sameCommandOffer(claim: Claim): Offer {
  const { command = '' } = claim
  const rule: Rule = { kind: 'command', answer: 'allow', command, folder: folderOf(claim) }
  return { rule, scopes: BOTH }
}

/** The rules a person can be offered beyond this one call, the narrowest first. */
export function offersFor(claim: Claim): Offer[] {
  const place = claim.paths.at(-1)
  if (claim.effect === 'run') return commandOffers(claim)
  if (claim.effect !== 'write' || place === undefined) return []
  const path = plainPath(place)
  const folder = plainPath(path.split('/').slice(0, -1).join('/'))
  return [
    { rule: { kind: 'file', answer: 'allow', path }, scopes: BOTH },
    { rule: { kind: 'folder', answer: 'allow', path: folder }, scopes: BOTH },
  ]
}

/** A rule for every command that starts with the words of `text`. */
export function prefixRule(text: string, answer: Rule['answer']): Result<Rule> {
  const parts = splitCommand(text)
  const [only, ...more] = parts ?? []
  const isPlain = only !== undefined && !only.assigns && !only.redirects
  if (!isPlain || more.length > 0 || only.words.some(({ isFixed }) => !isFixed)) {
    const message =
      'A prefix is a list of plain words: no variables, operators, redirections or wildcards.'
    return failed('invalid_args', message, { prefix: text })
  }
  const words = only.words.map((word) => word.text)
  const problem = answer === 'allow' ? tooWide(words) : undefined
  if (problem === undefined) return ok({ kind: 'prefix', answer, words })
  const message = `The prefix \`${prefixText(words)}\` is too broad: ${problem}.`
  return failed('invalid_args', message, { prefix: text })
}

/** A normalized workspace-relative path; `.` for the workspace. */
export function plainPath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') segments.pop()
    else segments.push(segment)
  }
  return segments.length === 0 ? '.' : segments.join('/')
}

const BOTH: readonly RuleScope[] = ['session', 'workspace']
const NONE: Ruling = { answer: 'none' }

function commandRuling(
  claim: Claim,
  allowing: readonly AppliedRule[],
  denying: readonly AppliedRule[],
): Ruling {
  const { command = '' } = claim
  const folder = folderOf(claim)
  const parts = splitCommand(command)
  const denied = denialOf(command, folder, parts, denying)
  if (denied !== undefined) return denied
  const same = allowing.find(({ rule }) => isSameCommand(rule, command, folder))
  if (same !== undefined) return { answer: 'allow', by: [same] }
  if (parts === undefined) return NONE
  const grants = parts.map((part) => allowing.find(({ rule }) => allowsPart(rule, part)))
  const covered = parts.every((part, at) => grants[at] !== undefined || isHarmless(part))
  const by = [...new Set(grants.flatMap((grant) => (grant === undefined ? [] : [grant])))]
  return covered && by.length > 0 ? { answer: 'allow', by } : NONE
}

function denialOf(
  command: string,
  folder: string,
  parts: readonly CommandPart[] | undefined,
  denying: readonly AppliedRule[],
): Ruling | undefined {
  const same = denying.find(({ rule }) => isSameCommand(rule, command, folder))
  if (same !== undefined) return { answer: 'deny', by: [same] }
  const prefixes = denying.filter(({ rule }) => rule.kind === 'prefix')
  if (prefixes.length === 0) return undefined
  if (parts === undefined) return { answer: 'unclear' }
  const denied = prefixes.find(({ rule }) => parts.some((part) => deniesPart(rule, part)))
  if (denied !== undefined) return { answer: 'deny', by: [denied] }
  const isUnclear = prefixes.some(({ rule }) => parts.some((part) => mayBeDenied(rule, part)))
  return isUnclear ? { answer: 'unclear' } : undefined
}

function isSameCommand(rule: Rule, command: string, folder: string): boolean {
  return rule.kind === 'command' && rule.command === command && plainPath(rule.folder) === folder
}

/** Compares words: `npm test` covers `npm test --watch` and not `npm testx`. */
function allowsPart(rule: Rule, { words, assigns, redirects }: CommandPart): boolean {
  if (rule.kind !== 'prefix' || assigns || redirects || words.length < rule.words.length) {
    return false
  }
  const begins = rule.words.every(
    (word, at) => words[at]?.isFixed === true && words[at].text === word,
  )
  // A rule written into the file by hand allows no more than one that could be offered.
  return begins && !startsOthers(words) && tooWide(rule.words) === undefined
}

/** Needs no rule, because it writes nothing and starts nothing. */
function isHarmless({ words, assigns, redirects }: CommandPart): boolean {
  return !assigns && !redirects && isFilter(words)
}

/** Matches however the program is called. */
function deniesPart(rule: Rule, { words }: CommandPart): boolean {
  if (rule.kind !== 'prefix') return false
  const [first = '', ...rest] = rule.words
  const isProgram = first === words[0]?.text || first === programOf(words)
  return isProgram && rest.every((word, at) => words[at + 1]?.text === word)
}

/** The shell or another program decides what runs. */
function mayBeDenied(rule: Rule, { words }: CommandPart): boolean {
  if (rule.kind !== 'prefix') return false
  if (words.length === 0) return false
  return startsOthers(words) || words.slice(0, rule.words.length).some(({ isFixed }) => !isFixed)
}

function allowsPath(rule: Rule, place: string): boolean {
  if (rule.kind === 'file') return plainPath(rule.path) === plainPath(place)
  if (rule.kind !== 'folder') return false
  const folder = plainPath(rule.path)
  return folder === '.' || plainPath(place).startsWith(`${folder}/`)
}

/** Ignores case and spelling, which some file systems do too. */
function deniesPath(rule: Rule, path: string): boolean {
  if (rule.kind !== 'file' && rule.kind !== 'folder') return false
  const denied = plainPath(foldPath(rule.path))
  const touched = plainPath(foldPath(path))
  if (denied === touched) return true
  return rule.kind === 'folder' && (denied === '.' || touched.startsWith(`${denied}/`))
}

function foldPath(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

function commandOffers(claim: Claim): Offer[] {
  const { command = '' } = claim
  const same = sameCommandOffer(claim)
  const needing = splitCommand(command)?.filter((part) => !isHarmless(part)) ?? []
  const [only] = needing
  if (only === undefined || needing.length > 1 || only.assigns || only.redirects) return [same]
  const words = usualPrefix(only.words)
  if (words === undefined) return [same]
  const reword = (text: string) => covering(prefixRule(text, 'allow'), claim)
  return [same, { rule: { kind: 'prefix', answer: 'allow', words }, scopes: BOTH, reword }]
}

function covering(rule: Result<Rule>, claim: Claim): Result<Rule> {
  if (!rule.ok) return rule
  const { answer } = ruling(claim, [{ rule: rule.value, scope: 'session' }])
  return answer === 'allow'
    ? rule
    : failed('invalid_args', 'The prefix does not cover this command.')
}

/** The working directory, with links resolved at decision time. */
function folderOf({ paths }: Claim): string {
  return plainPath(paths.at(-1) ?? '.')
}
