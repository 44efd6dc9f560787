import type { PermissionMode } from '../model/modes.ts'
import { ruleSubject, type AppliedRule } from '../model/rule.ts'
import type { Claim } from './claim.ts'
import { looksReadOnly } from './command-class.ts'
import { protectedBy } from './protected-paths.ts'
import { offersFor, ruling, type Offer, type Ruling } from './rules.ts'

/** The context in which a call is decided. */
export interface Posture {
  readonly mode: PermissionMode
  /** The sandbox passed its self-test; matters only for a call that runs a program. */
  readonly confined: boolean
  /** The rules a person made in advance; `undefined` if they cannot be read, and then every call they could decide asks. */
  readonly rules: readonly AppliedRule[] | undefined
}

export interface Decision {
  readonly answer: 'allow' | 'ask' | 'deny'
  /** For the person who is asked, and for the model that is refused. */
  readonly reason: string
  /** Where a program may write. */
  readonly writable: 'workspace' | 'nothing'
  /** The rules an approval may create; empty if every such call must ask. */
  readonly offers: readonly Offer[]
  /** The rules that decided. */
  readonly by?: readonly AppliedRule[]
}

/** May this call happen? Pure: the same claim and posture give the same answer. */
export function decide(claim: Claim, posture: Posture): Decision {
  const touched = claim.effect === 'write' ? protectedPathOf(claim) : undefined
  if (claim.effect === 'none' || claim.effect === 'read') return allow('it changes nothing')
  const ruled = ruledBy(claim, posture)
  if (ruled.answer === 'deny') return denyByRule(ruled.by)
  if (claim.effect === 'run') return decideRun(claim, posture, ruled)
  if (posture.mode === 'read-only') return deny('this Session is read-only')
  if (touched !== undefined) return ask(touched)
  if (ruled.answer === 'unclear') return ask(UNCLEAR)
  if (posture.mode === 'auto') return allow('it stays inside the workspace')
  return askOrGranted(claim, ruled, 'it changes a file')
}

/** The first path that is protected, and why. */
function protectedPathOf({ paths, gitReads = [] }: Claim): string | undefined {
  const reasons = paths.flatMap((path) => {
    const reason = protectedBy(path)
    return reason === undefined ? [] : [{ path, reason }]
  })
  const [first] = [...reasons, ...gitReads]
  return first && `${first.path} is protected: ${first.reason}`
}

function decideRun(claim: Claim, posture: Posture, ruled: Ruling): Decision {
  if (posture.mode === 'read-only') {
    if (!posture.confined)
      return deny('this Session is read-only, and no sandbox is available to enforce that')
    if (claim.network) return deny('this Session is read-only, which excludes network access')
    return { ...allow('it runs with everything read-only'), writable: 'nothing' }
  }
  if (claim.network) return ask('it needs network access')
  if (!posture.confined) return ask('no sandbox is available')
  if (ruled.answer === 'unclear') return ask(UNCLEAR)
  if (posture.mode === 'auto') return allow('the sandbox confines it')
  if (looksReadOnly(claim.command ?? '')) {
    return { ...allow('it only reads, with everything read-only'), writable: 'nothing' }
  }
  return askOrGranted(claim, ruled, 'it runs a program')
}

const UNCLEAR = 'a deny rule may apply to it, which its text does not show'

/** Unreadable rules may deny anything. */
function ruledBy(claim: Claim, { rules }: Posture): Ruling {
  return rules === undefined ? { answer: 'unclear' } : ruling(claim, rules)
}

function askOrGranted(claim: Claim, ruled: Ruling, reason: string): Decision {
  if (ruled.answer === 'allow') return { ...allow('a rule allows it'), by: ruled.by }
  return { ...ask(reason), offers: offersFor(claim) }
}

function denyByRule(by: readonly AppliedRule[]): Decision {
  const subjects = by.map(({ rule }) => ruleSubject(rule)).join(' and ')
  return { ...deny(`a rule denies ${subjects}`), by }
}

function allow(reason: string): Decision {
  return { answer: 'allow', reason, writable: 'workspace', offers: [] }
}

function ask(reason: string): Decision {
  return { answer: 'ask', reason, writable: 'workspace', offers: [] }
}

function deny(reason: string): Decision {
  return { answer: 'deny', reason, writable: 'nothing', offers: [] }
}
