import { sha256 } from '../../encoding/hash.ts'
import { canonicalJson } from '../../encoding/json.ts'
import { openWatches } from '../../history/open-watch.ts'
import { failed, ok, type HawserError, type Result } from '../../model/errors.ts'
import { hydrationSubject } from '../../model/permission-subject.ts'
import type { Claim } from '../../policy/claim.ts'
import type { Posture } from '../../policy/decide.ts'
import { decideHydration, type HydrationDecision } from '../../policy/hydration.ts'
import { isReadOnly } from '../../policy/read-only-command.ts'
import type { HydrationPlan } from '../../skills/hydration-plan.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import { byPolicy, refusal, verdictDraft, type Verdict } from '../parts/verdict.ts'
import type { PermissionSubject } from '../parts/permission.ts'
import { argumentVector, claimOf, type HydrationRequest } from './hydration-request.ts'

/** The mode in which it was decided, and the refusal if there is one. */
export interface HydrationPermission {
  readonly mode: Posture['mode']
  readonly isConfined: boolean
  readonly refusal?: HawserError
}

/** Decides about a plan, asks if necessary, and records the decision, also where policy allows it, before anything runs. */
export async function permitHydration(
  parts: TurnParts,
  request: HydrationRequest,
  plan: HydrationPlan,
): Promise<Result<HydrationPermission>> {
  const claim = claimOf(request, plan)
  // Nothing is automatic where the sandbox does not work, even if it starts no program.
  const asked = request.invokedBy === 'auto' ? { ...claim, effect: 'run' as const } : claim
  const posture = await parts.tools.posture(asked)
  const { mode, isConfined } = posture
  const decision = decisionFor(parts, request, plan, claim, posture)
  const { skill, source, call_id } = request
  const subject = hydrationSubject(skill.data.name, source.id)
  const args_sha256 = sha256(canonicalJson(argumentVector(plan)))
  const about = { call_id, subject, args_sha256, mode }
  const answered = await answerTo(parts, about, decision, claim, request)
  if (!answered.ok) return answered
  const answer = answered.value
  const { aborted } = parts.person.signal
  // A question always ends in a decision. Policy needs none if nothing runs any more.
  const recorded =
    aborted && answer.by === 'policy'
      ? ok(undefined)
      : await parts.log.commit([verdictDraft(about, answer)])
  if (!recorded.ok) return recorded
  if (aborted)
    return ok({
      mode,
      isConfined,
      refusal: failed('interrupted', 'The Turn was interrupted.').error,
    })
  if (answer.isAllowed) return ok({ mode, isConfined })
  return ok({ mode, isConfined, refusal: refusal('hydration_denied', decision.reason, answer) })
}

function decisionFor(
  { log }: TurnParts,
  { skill, invokedBy }: HydrationRequest,
  plan: HydrationPlan,
  claim: Claim,
  posture: Posture,
): HydrationDecision {
  if (plan.kind === 'command' && openWatches(log.events()).length > 0)
    return { answer: 'deny', reason: 'files of a killed command were not decided about' }
  const { trust } = skill.data
  return decideHydration(
    {
      kind: plan.kind,
      readOnly: isReadOnly(plan),
      isTrusted: trust === 'user' || trust === 'trusted',
      invokedBy,
      claim,
    },
    posture,
  )
}

/** Without offers: a yes applies to this hydration only. */
async function answerTo(
  { person }: TurnParts,
  about: PermissionSubject,
  decision: HydrationDecision,
  claim: Claim,
  { args }: HydrationRequest,
): Promise<Result<Verdict>> {
  if (decision.answer !== 'ask') return ok(byPolicy(decision))
  const { reason } = decision
  const given = args === undefined ? {} : { arguments: canonicalJson(args) }
  return person.ask({ about, claim, ...given, reason, offers: [] })
}
