import { failed, ok, type Result } from '../../model/errors.ts'
import type { LoadedSkill } from '../../skills/skill.ts'
import type { HydrationOutcome, SkillView, ToolHydration, ToolSkills } from '../../tools/tool.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import type { CallRoom } from '../resources/request-room.ts'
import { automaticRequests } from './activate.ts'
import { activationDraft, activeSkill, activeSkills, undeclaredSource } from './activations.ts'
import { hydrate } from './hydrate.ts'
import { readingContext, TOUCHES_NOTHING } from './reading-context.ts'

/** The Skills for one call. Each act waits for the earlier calls of the answer, which may activate the Skill it needs. */
export function toolSkills(parts: TurnParts, room: CallRoom, call_id: string): ToolSkills {
  const { skills } = parts.tools
  return {
    activate: async (name) => {
      await room.earlier
      const loaded = await skills.load(name)
      return loaded.ok ? activate(parts, loaded.value, room, call_id) : loaded
    },
    readFile: async (name, path, limit) => {
      const loaded = await skills.load(name)
      if (!loaded.ok) return loaded
      const refused = notForModel(parts, loaded.value)
      if (refused !== undefined) return refused
      const file = await skills.readFile(name, path, limit)
      return file.ok ? ok({ ...file.value, isTrusted: loaded.value.trust !== 'untrusted' }) : file
    },
    hydrate: async (request) => {
      await room.earlier
      return hydrateActive(parts, request, room, call_id)
    },
  }
}

async function activate(
  parts: TurnParts,
  skill: LoadedSkill,
  room: CallRoom,
  call_id: string,
): Promise<Result<SkillView>> {
  const { log } = parts
  const active = activeSkill(log.events(), log.turn, skill.name)
  if (active?.data.content_sha256 === skill.content_sha256) return ok({ state: 'active' })
  const refused = notForModel(parts, skill)
  if (refused !== undefined) return refused
  if (skill.trust === 'untrusted')
    return ok({ state: 'untrusted', text: skill.body.toString('utf8') })
  const context = readingContext(parts, TOUCHES_NOTHING, call_id)
  const draft = await activationDraft({ skill, args: '', by: 'model' }, context)
  if (!draft.ok) return draft
  if (!skill.context_sources.some(({ auto }) => auto === true))
    return ok({ state: 'activated', record: [draft.value] })
  // A hydration names the Event of its activation, so that must be recorded first.
  const recorded = await log.commit([draft.value])
  if (!recorded.ok) return recorded
  for (const request of automaticRequests(activeSkill(log.events(), log.turn, skill.name))) {
    if (parts.person.signal.aborted) break
    const hydrated = await hydrate(parts, { ...request, call_id }, room)
    const kept = hydrated.ok ? await log.commit(hydrated.value.record) : hydrated
    if (!kept.ok) return kept
  }
  return ok({ state: 'activated', record: [] })
}

/** A Skill that only a person activates is closed to the model until then. */
function notForModel(
  { log }: TurnParts,
  { name, forModel }: LoadedSkill,
): ReturnType<typeof failed> | undefined {
  if (forModel || activeSkill(log.events(), log.turn, name) !== undefined) return undefined
  return failed('permission_denied', `Only a person can activate the Skill ${name}.`, {
    skill: name,
  })
}

/** Depends on the content that was activated, and not on what is on disk now. */
async function hydrateActive(
  parts: TurnParts,
  { skill: name, id, args }: ToolHydration,
  room: CallRoom,
  call_id: string,
): Promise<Result<HydrationOutcome>> {
  const { log } = parts
  const skill = activeSkill(log.events(), log.turn, name)
  if (skill === undefined) {
    const active = activeSkills(log.events(), log.turn).map(({ data }) => data.name)
    const known = active.length === 0 ? 'None is.' : `Active: ${active.join(', ')}.`
    const text = `The Skill ${name} is not active in this Turn. ${known} Call skill_view first.`
    return failed('invalid_args', text, { skill: name, active })
  }
  const { context_sources = [] } = skill.data
  const source = context_sources.find((one) => one.id === id)
  if (source === undefined) return undeclaredSource({ name, context_sources }, id)
  return hydrate(parts, { skill, source, args, invokedBy: 'model', call_id }, room)
}
