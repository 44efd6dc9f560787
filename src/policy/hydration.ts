import type { SourceOrigin } from '../model/events/context-source.ts'
import type { EventData } from '../model/events/event.ts'
import { ruleSubject, type AppliedRule } from '../model/rule.ts'
import type { Claim } from './claim.ts'
import type { Posture } from './decide.ts'
import { lossesOf } from './losses.ts'
import { lossAllowedBy, ruling, type Ruling } from './rules.ts'

/** A hydration that is to be decided. */
export interface HydrationClaim {
  readonly kind: SourceOrigin['kind']
  /** A command in the table of those that only read. Every other kind only reads. */
  readonly readOnly: boolean
  readonly isTrusted: boolean
  readonly invokedBy: EventData<'skill_context_hydration'>['invoked_by']
  /** For a command: what rules of the person apply to. */
  readonly claim: Claim
}

export interface HydrationDecision {
  readonly answer: 'allow' | 'ask' | 'deny'
  /** For the person who is asked, and for the model that is refused. */
  readonly reason: string
  /** The rules that decided. */
  readonly by?: readonly AppliedRule[]
}

/** May these facts be fetched? Pure. A command always runs with everything read-only, whatever the answer is based on. */
export function decideHydration(
  { kind, readOnly, isTrusted, invokedBy, claim }: HydrationClaim,
  posture: Posture,
): HydrationDecision {
  if (!isTrusted) return deny('the Skill is not trusted')
  if (invokedBy === 'auto' && !posture.isConfined)
    return deny('no sandbox is available, so it does not run automatically')
  if (kind !== 'command') return allow('it only reads')
  const ruled = ruledBy(claim, posture)
  if (ruled.answer === 'deny') {
    const subjects = ruled.by.map(({ rule }) => ruleSubject(rule)).join(' and ')
    return { ...deny(`a rule denies ${subjects}`), by: ruled.by }
  }
  const decision = decideCommand(readOnly, claim, posture, ruled)
  if (invokedBy !== 'auto') return decision
  if (!readOnly) return deny('it is not known to only read, so it does not run automatically')
  return decision.answer === 'ask'
    ? deny(`${decision.reason}, so it does not run automatically`)
    : decision
}

function decideCommand(
  readOnly: boolean,
  claim: Claim,
  posture: Posture,
  ruled: Ruling,
): HydrationDecision {
  const { mode, isConfined } = posture
  if (!isConfined) {
    return mode === 'read-only'
      ? deny('this Session is read-only, and no sandbox is available to enforce that')
      : ask('no sandbox is available')
  }
  if (ruled.answer === 'unclear') {
    return mode === 'read-only' ? deny(UNCLEAR) : ask(UNCLEAR)
  }
  if (readOnly) return allow('it only reads, with everything read-only')
  if (mode === 'read-only')
    return deny('this Session is read-only, and the command is not known to only read')
  const [loss] = lossesOf(claim.command ?? '')
  if (loss !== undefined && lossAllowedBy(claim, posture.rules ?? []).length === 0)
    return ask(loss.reason)
  if (mode === 'auto') return allow('the sandbox confines it, with everything read-only')
  if (ruled.answer === 'allow') return { ...allow('a rule allows it'), by: ruled.by }
  return ask('it runs a program that is not known to only read')
}

const UNCLEAR = 'a deny rule may apply to it, which its text does not show'

/** Unreadable rules may deny anything. */
function ruledBy(claim: Claim, { rules }: Posture): Ruling {
  return rules === undefined ? { answer: 'unclear' } : ruling(claim, rules)
}

function allow(reason: string): HydrationDecision {
  return { answer: 'allow', reason }
}

function ask(reason: string): HydrationDecision {
  return { answer: 'ask', reason }
}

function deny(reason: string): HydrationDecision {
  return { answer: 'deny', reason }
}
