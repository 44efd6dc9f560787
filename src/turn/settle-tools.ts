import { sha256 } from '../encoding/hash.ts'
import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { EventDraft } from '../model/event.ts'
import type { Claim } from '../policy/claim.ts'
import { decide, type Decision, type PermissionMode } from '../policy/decide.ts'
import { failedOutcome, type ParsedCall, type ToolOutcome } from '../tools/tool.ts'
import type { AnsweredCall } from './call-provider.ts'
import { toolResources } from './tool-resources.ts'
import type { Answer, TurnParts } from './turn-parts.ts'

/**
 * Runs the calls of one answer and records each result. Calls that change nothing run together; any other runs alone, in its
 * turn. Every call gets a result, also one that was refused, unknown, or not run because the Turn was interrupted.
 */
export async function settleTools(
  parts: TurnParts,
  calls: readonly AnsweredCall[],
): Promise<Result<void>> {
  for (const group of inGroups(parts, calls)) {
    const settled = await Promise.all(group.map((call) => settle(parts, call)))
    for (const result of settled) if (!result.ok) return result
  }
  return parts.signal.aborted ? failed('interrupted', 'The Turn was interrupted.') : ok(undefined)
}

/** A call as far as it can be understood without running it. */
interface Understood {
  readonly call: AnsweredCall
  readonly parsed: Result<ParsedCall>
}

function inGroups(parts: TurnParts, calls: readonly AnsweredCall[]): Understood[][] {
  const groups: Understood[][] = []
  let together = false
  for (const call of calls) {
    const parsed = parse(parts, call)
    const quiet = !parsed.ok || ['none', 'read'].includes(parsed.value.claim.effect)
    if (quiet && together) groups.at(-1)?.push({ call, parsed })
    else groups.push([{ call, parsed }])
    together = quiet
  }
  return groups
}

function parse({ tools }: TurnParts, { name, arguments: text }: AnsweredCall): Result<ParsedCall> {
  const tool = tools.get(name)
  if (tool !== undefined) return tool.parse(text)
  const known = [...tools.keys()]
  return failed('unknown_tool', `There is no tool of that name. There are: ${known.join(', ')}.`)
}

async function settle(parts: TurnParts, { call, parsed }: Understood): Promise<Result<void>> {
  const started = parts.clock.now()
  const outcome = await outcomeOf(parts, call, parsed)
  if (!outcome.ok) return outcome
  const {
    outcome: word,
    error,
    output,
    truncated,
    exit_code,
    path,
    before_blob,
    after_blob,
    resources = [],
    record = [],
  } = outcome.value
  const result: EventDraft = {
    type: 'tool_result',
    data: {
      call_id: call.call_id,
      name: call.name,
      outcome: word,
      ...(error === undefined ? {} : { error }),
      output,
      ...(truncated === true ? { truncated } : {}),
      ...(exit_code === undefined ? {} : { exit_code }),
      duration_ms: parts.clock.now() - started,
      ...(resources.length === 0 ? {} : { resources }),
      ...(path === undefined ? {} : { path }),
      ...(before_blob === undefined ? {} : { before_blob }),
      ...(after_blob === undefined ? {} : { after_blob }),
    },
  }
  return parts.commit([...record, result])
}

/** A failure here is one of the Log; whatever a tool meets is an outcome. */
async function outcomeOf(
  parts: TurnParts,
  call: AnsweredCall,
  parsed: Result<ParsedCall>,
): Promise<Result<ToolOutcome>> {
  if (!parsed.ok) return ok(failedOutcome(parsed.error))
  if (parts.signal.aborted) return ok(failedOutcome(notRun()))
  const claim = await located(parts, parsed.value.claim)
  const posture = await parts.posture(claim)
  const decision = decide(claim, posture)
  const { call_id } = call
  const context = parts.contextOf({ call_id, decision, claim })
  const permission = await permit(parts, call, claim, {
    decision,
    mode: posture.mode,
    preview: async () => parsed.value.preview?.(context),
  })
  if (!permission.ok) return permission
  if (permission.value !== undefined) {
    const { message } = permission.value
    return ok({ outcome: 'denied', error: permission.value, output: message })
  }
  return ok(await parsed.value.run({ ...context, resources: toolResources(parts, call_id) }))
}

/** A link on the way may lead to what is protected: that is what has to be decided on. */
async function located({ placeOf }: TurnParts, claim: Claim): Promise<Claim> {
  if (claim.effect !== 'write' && claim.effect !== 'run') return claim
  const places = await Promise.all(claim.paths.map(placeOf))
  return { ...claim, paths: [...new Set([...claim.paths, ...places])] }
}

interface Deciding {
  readonly decision: Decision
  readonly mode: PermissionMode
  readonly preview: () => Promise<string | undefined>
}

/** Decides, asks where that is needed, and records it before anything happens. The error is the refusal. */
async function permit(
  parts: TurnParts,
  call: AnsweredCall,
  claim: Claim,
  { decision, mode, preview }: Deciding,
): Promise<Result<HawserError | undefined>> {
  const quiet = claim.effect === 'none' || claim.effect === 'read'
  if (quiet && decision.answer === 'allow') return ok(undefined)
  const answer =
    decision.answer === 'ask'
      ? await parts.ask({
          call_id: call.call_id,
          claim,
          arguments: call.arguments,
          reason: decision.reason,
          offers: decision.offers,
          diff: await preview(),
        })
      : byPolicy(decision)
  const recorded = await parts.commit([
    {
      type: 'permission_decision',
      data: {
        call_id: call.call_id,
        subject: call.name,
        args_sha256: sha256(call.arguments),
        mode,
        decision: answer.allowed ? 'allowed' : 'denied',
        scope: answer.scope,
        by: answer.by,
        ...(answer.rule === undefined ? {} : { rule: answer.rule }),
        ...(answer.reason === undefined ? {} : { reason: answer.reason }),
      },
    },
  ])
  if (!recorded.ok) return recorded
  if (answer.allowed) return ok(undefined)
  return ok(refusal(decision.reason, answer))
}

type Settled = Omit<Answer, 'by'> & { readonly by: Answer['by'] | 'policy' }

/** With the rule that decided, where one did. */
function byPolicy({ answer, by = [] }: Decision): Settled {
  const [first] = by
  const ruled = first === undefined ? { scope: 'once' as const } : first
  return { allowed: answer === 'allow', by: 'policy', ...ruled }
}

const REFUSED_BY = {
  policy: 'This is not permitted',
  person: 'The person said no',
  timeout: 'The person did not answer in time',
  nobody: 'This has to be asked, and there is nobody to ask',
} as const

function refusal(why: string, { by, reason }: Settled): HawserError {
  const given = reason === undefined ? '' : ` Their reason: ${reason}`
  return failed('permission_denied', `${REFUSED_BY[by]}: ${why}.${given}`, { by }).error
}

function notRun(): HawserError {
  return failed('interrupted', 'Not run: the Turn was interrupted.').error
}
