import { sha256 } from '../encoding/hash.ts'
import { openWatches } from '../history/open-watch.ts'
import { elapsedMs } from '../host/clock.ts'
import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { EventData, EventDraft } from '../model/events/event.ts'
import type { Claim } from '../policy/claim.ts'
import type { PermissionMode } from '../model/modes.ts'
import type { Surface } from '../model/surface.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import { decide, type Decision } from '../policy/decide.ts'
import { failedOutcome, type ParsedCall, type ToolOutcome, type Toolset } from '../tools/tool.ts'
import type { ToolCallItem } from './answer.ts'
import type { AroundCommand } from './parts/around-command.ts'
import { RequestRoom, type CallRoom } from './resources/request-room.ts'
import { toolResources } from './resources/tool-resources.ts'
import { recordResult } from './parts/pending-results.ts'
import type { TurnParts } from './parts/turn-parts.ts'
import { byPolicy, refusal, verdictDraft } from './parts/verdict.ts'
import type { PermissionSubject } from './parts/permission.ts'
import { toolSkills } from './skills/tool-skills.ts'

/**
 * Runs the calls of one answer. Calls that change nothing run concurrently; any other runs alone, in order. Every call
 * gets a result, including one that is refused, unknown, or not run because the Turn was interrupted. It is recorded
 * before anything else happens, or, if the call changed nothing, added to those that wait. Returns the paths that the calls declared.
 */
export async function settleTools(
  parts: TurnParts,
  calls: readonly ToolCallItem[],
): Promise<Result<readonly string[]>> {
  const toolset = await parts.tools.toolset()
  const groups = inGroups(toolset, calls, parts.model.surface)
  for (const group of groups) {
    const room = new RequestRoom(parts)
    const settled = await Promise.all(
      group.map((call) => room.forCall((own) => settle(parts, call, own))),
    )
    for (const result of settled) if (!result.ok) return result
  }
  return parts.person.signal.aborted
    ? failed('interrupted', 'The Turn was interrupted.')
    : ok(
        groups
          .flat()
          .flatMap(({ parsedCall }) => (parsedCall.ok ? parsedCall.value.claim.paths : [])),
      )
}

/** A call and the result of parsing it, which fails for an unknown tool or invalid arguments. */
interface CheckedCall {
  readonly call: ToolCallItem
  readonly parsedCall: Result<ParsedCall>
}

function inGroups(
  toolset: Toolset,
  calls: readonly ToolCallItem[],
  surface: Surface,
): CheckedCall[][] {
  const groups: CheckedCall[][] = []
  let together = false
  for (const call of calls) {
    const parsedCall = parse(toolset, call, surface)
    const quiet = changesNothing(parsedCall)
    if (quiet && together) groups.at(-1)?.push({ call, parsedCall })
    else groups.push([{ call, parsedCall }])
    together = quiet
  }
  return groups
}

function changesNothing(parsed: Result<ParsedCall>): boolean {
  return !parsed.ok || parsed.value.claim.effect === 'none' || parsed.value.claim.effect === 'read'
}

/** A tool of the frozen surface may be gone: another version of this program froze it. */
function parse(
  toolset: Toolset,
  { name, arguments: text }: ToolCallItem,
  { tools }: Surface,
): Result<ParsedCall> {
  const tool = toolset.get(name)
  if (tool !== undefined) return tool.parse(text)
  const isGone = tools.some((frozen) => frozen.name === name)
  const why = isGone
    ? `The tool ${name} is gone: this version of Hawser no longer has it.`
    : `No tool is named ${name}.`
  return failed('unknown_tool', `${why} Available: ${[...toolset.keys()].join(', ')}.`)
}

async function settle(
  parts: TurnParts,
  { call, parsedCall }: CheckedCall,
  room: CallRoom,
): Promise<Result<void>> {
  const started = parts.log.clock.monotonicMs()
  const outcome = await outcomeOf(parts, { call, parsedCall }, room)
  if (!outcome.ok) return outcome
  const {
    outcome: word,
    error,
    output,
    truncated,
    whole_blob,
    exit_code,
    path,
    before_blob,
    after_blob,
    redacted_of,
    diff,
    resources = [],
    movedPaths: moved = [],
    runs_later = [],
    record = [],
  } = outcome.value
  const result: EventDraft<'tool_result'> = {
    type: 'tool_result',
    data: {
      call_id: call.call_id,
      name: call.name,
      outcome: word,
      ...definedFields({ error }),
      output,
      ...(truncated === true ? { truncated } : {}),
      ...definedFields({ whole_blob, exit_code }),
      duration_ms: elapsedMs(parts.log.clock, started),
      ...(resources.length === 0 ? {} : { resources }),
      ...definedFields({ path, before_blob, after_blob, redacted_of, diff }),
      ...(moved.length === 0 ? {} : { moved }),
      ...(runs_later.length === 0 ? {} : { runs_later }),
    },
  }
  if (!changesNothing(parsedCall) || record.length > 0)
    return recordResult(parts.log, result, record)
  parts.log.results.add(result)
  return ok(undefined)
}

/** A failure here is a failure of the Log; any failure of a tool is an outcome. */
async function outcomeOf(
  parts: TurnParts,
  { call, parsedCall }: CheckedCall,
  room: CallRoom,
): Promise<Result<ToolOutcome>> {
  if (!parsedCall.ok) return ok(failedOutcome(parsedCall.error))
  if (parts.person.signal.aborted) return ok(failedOutcome(notRun()))
  const claim = await withLinkTargets(parts.tools, parsedCall.value.claim)
  const held = claim.effect === 'run' ? await refusedCommand(parts, call) : ok(undefined)
  if (!held.ok) return held
  if (held.value !== undefined) return ok(held.value)
  const posture = await parts.tools.posture(claim)
  const decision = decide(claim, posture)
  const { call_id } = call
  const writes = claim.effect === 'run' && decision.writable === 'workspace'
  const around = writes ? await parts.tools.snapshots?.(call_id) : undefined
  const watching = async (paths: EventData<'command_watched'>['paths']) => {
    const first = (await around?.begin()) ?? []
    return parts.log.commit([{ type: 'command_watched', data: { call_id, paths } }, ...first])
  }
  const context = parts.tools.contextOf({ call_id, decision, claim, watching })
  const permission = await permit(parts, call, claim, {
    decision,
    mode: posture.mode,
    preview: async () => parsedCall.value.preview?.(context),
  })
  if (!permission.ok) return permission
  if (permission.value !== undefined) {
    const { message } = permission.value
    return ok({ outcome: 'denied', error: permission.value, output: message })
  }
  const resources = toolResources(parts, room, call_id)
  const skills = toolSkills(parts, room, call_id)
  // Without a sandbox, nothing is watched.
  const first =
    around === undefined || posture.isConfined ? ok(undefined) : await recordFirst(parts, around)
  if (!first.ok) return first
  const outcome = await parsedCall.value.run({ ...context, resources, skills })
  const last = (await around?.end()) ?? []
  return ok(
    last.length === 0 ? outcome : { ...outcome, record: [...(outcome.record ?? []), ...last] },
  )
}

async function recordFirst({ log }: TurnParts, around: AroundCommand): Promise<Result<void>> {
  return log.commit(await around.begin())
}

/** A link may point to a protected path; the decision must be about the target. */
async function withLinkTargets(
  { realPathOf, gitReads }: TurnParts['tools'],
  claim: Claim,
): Promise<Claim> {
  if (claim.effect !== 'write' && claim.effect !== 'run') return claim
  const realPaths = await Promise.all(claim.paths.map(realPathOf))
  const read = claim.effect === 'write' ? await Promise.all(realPaths.map(gitReads)) : []
  return { ...claim, paths: [...new Set([...claim.paths, ...realPaths])], gitReads: read.flat() }
}

/** Files that a killed command left may run with the next one: no command runs until a person has decided about them. */
async function refusedCommand(
  parts: TurnParts,
  call: ToolCallItem,
): Promise<Result<ToolOutcome | undefined>> {
  if (openWatches(parts.log.events()).length === 0) return ok(undefined)
  const { commandsRefused } = await import('./inspection.ts')
  const refused = await commandsRefused(parts)
  if (!refused.ok) return ok(failedOutcome(refused.error))
  if (refused.value === undefined) return ok(undefined)
  const { message } = refused.value
  const { mode } = await parts.tools.posture({
    tool: call.name,
    effect: 'none',
    paths: [],
    network: false,
  })
  const verdict = { isAllowed: false, scope: 'once', by: 'nobody' } as const
  const recorded = await parts.log.commit([verdictDraft(aboutCall(call, mode), verdict)])
  return recorded.ok ? ok({ outcome: 'denied', error: refused.value, output: message }) : recorded
}

interface DecisionParts {
  readonly decision: Decision
  readonly mode: PermissionMode
  readonly preview: () => Promise<string | undefined>
}

/** Decides, asks if necessary, and records the decision before anything happens. The error is the refusal. */
async function permit(
  parts: TurnParts,
  call: ToolCallItem,
  claim: Claim,
  { decision, mode, preview }: DecisionParts,
): Promise<Result<HawserError | undefined>> {
  const quiet = claim.effect === 'none' || claim.effect === 'read'
  if (quiet && decision.answer === 'allow') return ok(undefined)
  const about = aboutCall(call, mode)
  const { reason } = decision
  const answer =
    decision.answer === 'ask'
      ? await parts.person.ask({
          about,
          claim,
          arguments: call.arguments,
          reason,
          offers: decision.offers,
          diff: await preview(),
        })
      : ok(byPolicy(decision))
  if (!answer.ok) return answer
  const recorded = await parts.log.commit([verdictDraft(about, answer.value)])
  if (!recorded.ok) return recorded
  if (answer.value.isAllowed) return ok(undefined)
  return ok(refusal('permission_denied', reason, answer.value))
}

function aboutCall(
  { call_id, name, arguments: text }: ToolCallItem,
  mode: PermissionMode,
): Required<PermissionSubject> {
  return { call_id, subject: name, args_sha256: sha256(text), mode }
}

function notRun(): HawserError {
  return failed('interrupted', 'Not run: the Turn was interrupted.').error
}
