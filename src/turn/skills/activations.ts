import { withoutCalls } from '../../history/without-calls.ts'
import { argumentsIn, filledBody } from '../../prompt/words/skills.ts'
import { LIMITS } from '../../model/limits.ts'
import { utf8Bytes } from '../../model/shape.ts'
import type { SkillRequest } from '../../model/events/context-source.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { TurnId } from '../../model/ids.ts'
import { planHydration } from '../../skills/hydration-plan.ts'
import type { LoadedSkill, SkillCatalog } from '../../skills/skill.ts'
import type { ToolContext } from '../../tools/tool.ts'

/** A Skill as it was read when the message was admitted, and what it is activated with. */
export interface ActivatedSkill {
  readonly skill: LoadedSkill
  readonly request: SkillRequest
  readonly by: 'person' | 'presenter'
}

/**
 * Reads the Skills of a message and checks what it asks of them, before anything is recorded: `not_found` for an unknown Skill,
 * `permission_denied` for an untrusted one, `invalid_args` for a source or an argument that is not declared.
 */
export async function judgeSkills(
  catalog: SkillCatalog,
  requests: readonly SkillRequest[],
  by: ActivatedSkill['by'],
): Promise<Result<readonly ActivatedSkill[]>> {
  const judged: ActivatedSkill[] = []
  for (const request of requests) {
    const { name, with: sources = [] } = request
    if (judged.some(({ skill }) => skill.name === name))
      return failed('invalid_args', `The Skill ${name} is activated twice.`, { skill: name })
    const loaded = await catalog.load(name)
    if (!loaded.ok) return loaded
    const skill = loaded.value
    if (skill.trust === 'untrusted') return untrustedSkill(skill)
    const twice = sources.find(({ id }, at) => sources.findIndex((one) => one.id === id) < at)
    if (twice !== undefined)
      return failed('invalid_args', `The context source ${twice.id} is named twice.`)
    for (const { id, args } of sources) {
      const source = skill.context_sources.find((one) => one.id === id)
      const plan = source === undefined ? undeclaredSource(skill, id) : planHydration(source, args)
      if (!plan.ok) return plan
    }
    judged.push({ skill, request, by })
  }
  return ok(judged)
}

function untrustedSkill({ name, changed }: LoadedSkill): Failed {
  const message =
    changed === true
      ? `The Skill ${name} comes with this repository and changed since it was trusted.`
      : `The Skill ${name} comes with this repository and is not trusted.`
  return failed('permission_denied', message, { skill: name }, [
    {
      action: changed === true ? 'Read it again, then trust it.' : 'Read it, then trust it.',
      command: `hawser skills trust ${name}`,
    },
  ])
}

/** A Skill hydrates only what it declares. */
export function undeclaredSource(
  { name, context_sources = [] }: Pick<LoadedSkill, 'name'> & Partial<LoadedSkill>,
  id: string,
): Failed {
  const declared = context_sources.map((source) => source.id)
  const known = declared.length === 0 ? 'It declares none.' : `It declares: ${declared.join(', ')}.`
  const message = `The Skill ${name} declares no context source ${id}. ${known}`
  return failed('invalid_args', message, { skill: name, context_source_id: id, declared })
}

/** The Event of an activation. Its body is stored first, redacted and as valid UTF-8, which is what the model sees. */
export async function activationDraft(
  { skill, args, by }: { skill: LoadedSkill; args: string; by: 'user' | 'model' },
  { keep, redactor }: Pick<ToolContext, 'keep' | 'redactor'>,
): Promise<Result<EventDraft<'skill_activation'>>> {
  const body = redactor.bytes(Buffer.from(skill.body.toString('utf8')))
  const blob = await keep([body], 'text/markdown')
  if (!blob.ok) return blob
  const { name, root, trust, content_sha256, context_sources, allowed_tools } = skill
  const filled_bytes = filledBytes(body, redactor.text(args))
  return ok({
    type: 'skill_activation',
    data: {
      name,
      args,
      source: root,
      path: `${name}/SKILL.md`,
      content_sha256,
      blob: blob.value,
      body_bytes: body.length,
      ...(filled_bytes === undefined ? {} : { filled_bytes }),
      trust,
      activated_by: by,
      ...(context_sources.length === 0 ? {} : { context_sources: [...context_sources] }),
      ...(allowed_tools.length === 0 ? {} : { allowed_tools: [...allowed_tools] }),
    },
  })
}

/** The length of the body with its arguments; `undefined` if it does not refer to them, or would become too long. */
function filledBytes(body: Buffer, args: string): number | undefined {
  const text = body.toString('utf8')
  const count = argumentsIn(text)
  const longest = body.length + count * utf8Bytes(args)
  if (count === 0 || longest > LIMITS.user_text_bytes) return undefined
  return utf8Bytes(filledBody(text, args))
}

/** The last activation of this Skill in the Turn. An activation ends with its Turn. */
export function activeSkill(
  events: readonly WholeEvent[],
  turn: TurnId,
  name: string,
): WholeEvent<'skill_activation'> | undefined {
  return activeSkills(events, turn).findLast(({ data }) => data.name === name)
}

export function activeSkills(
  events: readonly WholeEvent[],
  turn: TurnId,
): readonly WholeEvent<'skill_activation'>[] {
  return withoutCalls(events).flatMap((event) =>
    event.type === 'skill_activation' && event.turn_id === turn ? [event] : [],
  )
}
