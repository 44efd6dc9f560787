import type { PermissionMode } from '../model/modes.ts'
import { ruleSubject, type AppliedRule } from '../model/rule.ts'
import type { Claim } from './claim.ts'
import { looksReadOnly } from './command-class.ts'
import { lossesOf } from './losses.ts'
import { protectedBy } from './protected-paths.ts'
import {
  lossAllowedBy,
  offersFor,
  ruling,
  sameCommandOffer,
  type Offer,
  type Ruling,
} from './rules.ts'

/** The context in which a call is decided. */
export interface Posture {
  readonly mode: PermissionMode
  /** The sandbox passed its self-test; matters only for a call that runs a program. */
  readonly isConfined: boolean
  /** The rules a person made in advance; `undefined` if they cannot be read, and then every call they could decide asks. */
  readonly rules: readonly AppliedRule[] | undefined
  /** The Session belongs to an Instance, which may discard work in its own workspace. */
  readonly instance?: boolean
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
    if (!posture.isConfined)
      return deny('this Session is read-only, and no sandbox is available to enforce that')
    if (claim.network) return deny('this Session is read-only, which excludes network access')
    return { ...allow('it runs with everything read-only'), writable: 'nothing' }
  }
  const loss = lossOf(claim, posture)
  if (claim.network) return ask(withLoss('it needs network access', loss))
  if (!posture.isConfined) return ask(withLoss('no sandbox is available', loss))
  if (ruled.answer === 'unclear') return ask(withLoss(UNCLEAR, loss))
  const by = loss === undefined ? [] : lossAllowedBy(claim, posture.rules ?? [])
  if (loss !== undefined && by.length === 0)
    return { ...ask(loss), offers: [sameCommandOffer(claim)] }
  if (posture.mode === 'auto')
    return by.length === 0 ? allow('the sandbox confines it') : { ...allow(BY_RULE), by }
  if (looksReadOnly(claim.command ?? '')) {
    return { ...allow('it only reads, with everything read-only'), writable: 'nothing' }
  }
  return askOrGranted(claim, ruled, 'it runs a program')
}

/** What the command would destroy, except what an Instance may; judged by its text, in every mode that can write. */
function lossOf({ command = '', paths }: Claim, { instance = false }: Posture): string | undefined {
  return lossesOf(command, paths.at(-1)).find(({ own = false }) => !(instance && own))?.reason
}

function withLoss(reason: string, loss: string | undefined): string {
  return loss === undefined ? reason : `${reason}, and ${loss}`
}

const BY_RULE = 'a rule allows it'
const UNCLEAR = 'a deny rule may apply to it, which its text does not show'

/** Unreadable rules may deny anything. */
function ruledBy(claim: Claim, { rules }: Posture): Ruling {
  return rules === undefined ? { answer: 'unclear' } : ruling(claim, rules)
}

function askOrGranted(claim: Claim, ruled: Ruling, reason: string): Decision {
  if (ruled.answer === 'allow') return { ...allow(BY_RULE), by: ruled.by }
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
