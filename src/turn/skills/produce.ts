import { binaryKind } from '../../encoding/magic-bytes.ts'
import { countOf } from '../../encoding/amounts.ts'
import { shownPath } from '../../host/files/confined-path.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { ContextSource } from '../../model/events/context-source.ts'
import { notReading, READING_TOOLS, type HydrationPlan } from '../../skills/hydration-plan.ts'
import { notViewable, OUTCOMES, viewOf } from '../../tools/resource-view.ts'
import type { ToolContext } from '../../tools/tool.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import { complete, failure, type Production } from './production.ts'
import { runHydrationCommand } from './run-command.ts'

/** What fetching facts may access. */
type ProductionContext = Omit<ToolContext, 'skills'>

/** Fetches the facts of a plan that was allowed. A failure here is a failure of the Log; any other is a production. */
export async function produce(
  plan: HydrationPlan,
  source: ContextSource,
  parts: TurnParts,
  context: ProductionContext,
): Promise<Result<Production>> {
  const limits = {
    // The whole is stored; what is shown is cut later.
    output_bytes: LIMITS.hydrated_spool_bytes,
    command_ms: Math.min(source.timeout_ms, LIMITS.hydration_max_ms),
  }
  switch (plan.kind) {
    case 'command':
      return ok(await runHydrationCommand(plan.argv, limits.command_ms, context))
    case 'file':
      return ok(await fileContent(plan.path, context))
    case 'presenter':
      return ok(presenterFact(plan.fact, parts.log))
    case 'resource_view':
      return resourceView(plan.handle, context)
    case 'tool':
      return ok(await toolOutput(plan, parts, { ...context, limits }))
    default:
      return plan satisfies never
  }
}

/** Opened first, then judged, so that it cannot be replaced in between. */
async function fileContent(
  path: string,
  { files }: Pick<ProductionContext, 'files'>,
): Promise<Production> {
  const file = await files.read(path, LIMITS.hydrated_spool_bytes)
  if (!file.ok) return failure(file.error)
  const { bytes, size, truncated } = file.value
  const binary = binaryKind(bytes)
  if (binary !== undefined) {
    const message = `${shownPath(path)} is ${binary} of ${countOf(size, 'byte')}, not text.`
    return failure(failed('unsupported_type', message, { found: binary }).error)
  }
  return { status: 'ok', raw: { bytes, end: truncated ? 'at_limit' : 'complete' } }
}

/** A fact of the message of this Turn. */
function presenterFact(fact: string, { events, turn }: TurnParts['log']): Production {
  const message = events().find((event) => event.type === 'user_message' && event.turn_id === turn)
  const facts = (message?.type === 'user_message' && message.data.presenter_context) || {}
  const value = Object.hasOwn(facts, fact) ? facts[fact] : undefined
  if (value !== undefined) return { status: 'ok', raw: complete(value) }
  const text = `The presenter supplied no fact ${JSON.stringify(fact)} with this message.`
  return failure(failed('not_found', text, { facts: Object.keys(facts) }).error)
}

async function resourceView(
  given: string,
  context: ProductionContext,
): Promise<Result<Production>> {
  const found = await context.resources.find(given.startsWith('@') ? given : `@${given}`)
  if (!found.ok) return found
  if (found.value === undefined) {
    const handles = context.resources
      .knownResources()
      .all.map(({ descriptor }) => descriptor.handle)
    const text = `No Resource of this Session has the handle ${JSON.stringify(given)}.`
    return ok(failure(failed('not_found', text, { handles }).error))
  }
  const never = notViewable(found.value)
  if (never !== undefined) return ok(failure(never))
  const viewed = await viewOf(found.value, {}, context)
  if (!viewed.ok) return ok(failure(viewed.error))
  const { view, message } = viewed.value
  const { resource_id, handle } = view
  const record = [{ type: 'resource_view', data: { ...view, by: 'hydration' } } as const]
  const named = { view: { resource_id, handle, record } }
  const outcome = OUTCOMES[view.outcome]
  if (outcome === 'ok') return ok({ status: 'ok', ...named })
  const kind = outcome === 'denied' ? 'hydration_denied' : 'hydration_failed'
  return ok({ status: outcome, error: failed(kind, message).error, ...named })
}

async function toolOutput(
  { name, arguments: args }: Extract<HydrationPlan, { kind: 'tool' }>,
  { tools }: TurnParts,
  context: ProductionContext,
): Promise<Production> {
  const tool = READING_TOOLS.has(name) ? (await tools.toolset()).get(name) : undefined
  if (tool === undefined) return failure(failed('unknown_tool', notReading(name)).error)
  const call = tool.parse(JSON.stringify(args))
  if (!call.ok) return failure(call.error)
  const ran = await call.value.run({ ...context, skills: NO_SKILLS_HERE })
  const { outcome, error, output, truncated, record = [] } = ran
  if (record.length > 0) {
    const text = 'It is not text. Attach it and declare a source of the kind resource instead.'
    return failure(failed('unsupported_type', text).error)
  }
  const shown = { raw: complete(output), ...(truncated === true ? { partial: true } : {}) }
  if (outcome === 'ok') return { status: 'ok', ...shown }
  return error === undefined
    ? { status: 'failed', error: failed('hydration_failed', output).error, ...shown }
    : { ...failure(error), ...shown }
}

/** A tool that only reads does not use Skills. */
const NO_SKILLS_HERE: ToolContext['skills'] = {
  activate: async () => failed('internal', 'Not available here.'),
  readFile: async () => failed('internal', 'Not available here.'),
  hydrate: async () => failed('internal', 'Not available here.'),
}
