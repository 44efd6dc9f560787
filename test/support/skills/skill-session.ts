import type { EventData } from '../../../src/model/events/event.ts'
import type { RehearsalSegment } from '../../../src/providers/rehearsal/schema.ts'
import type { Session } from '../../../src/session/session.ts'
import { withSkills, type HandSkill } from '../session/hand-skills.ts'
import { withChanges, type Changes } from '../session/harness-parts.ts'
import { visionPlace, type VisionPlace } from '../resources/vision-place.ts'
import type { Way } from '../providers/ways.ts'

export interface SkillPlace extends VisionPlace {
  /** May be changed at any time. */
  readonly skills: Map<string, HandSkill>
}

/** A workspace with Skills, whose model keeps every request. */
export async function skillPlace(
  way: Way,
  skills: Readonly<Record<string, HandSkill>>,
  { changes = {}, root }: { readonly changes?: Changes; readonly root?: string } = {},
): Promise<SkillPlace> {
  const map = new Map(Object.entries(skills))
  const at = await visionPlace(way, {
    changes: withChanges(withSkills(map), changes),
    ...(root === undefined ? {} : { root }),
  })
  return { ...at, skills: map }
}

export function activations(session: Session): EventData<'skill_activation'>[] {
  return session.events.flatMap((e) => (e.type === 'skill_activation' ? [e.data] : []))
}

export function hydrations(session: Session): EventData<'skill_context_hydration'>[] {
  return session.events.flatMap((e) => (e.type === 'skill_context_hydration' ? [e.data] : []))
}

export function decisions(session: Session): EventData<'permission_decision'>[] {
  return session.events.flatMap((e) => (e.type === 'permission_decision' ? [e.data] : []))
}

export function results(session: Session): EventData<'tool_result'>[] {
  return session.events.flatMap((e) => (e.type === 'tool_result' ? [e.data] : []))
}

/** The types of the Events of the last Turn, without those of requests and answers. */
export function typesOfLastTurn(session: Session): string[] {
  const last = session.events.findLast(({ type }) => type === 'turn_started')
  const hidden = new Set([
    'provider_request',
    'provider_usage',
    'assistant_message',
    'late_context',
  ])
  return session.events.flatMap(({ type, turn_id }) =>
    turn_id === last?.turn_id && !hidden.has(type) ? [type] : [],
  )
}

/** Role and text of every message, each part of it alone; a file by its text. */
export function messagesIn(segments: readonly RehearsalSegment[]): [string, string][] {
  return segments.flatMap((segment): [string, string][] => {
    if (segment.role === 'tool_result') return [[segment.role, segment.output]]
    if (!('parts' in segment)) return []
    return segment.parts.map((part) => [segment.role, textOf(part)])
  })
}

function textOf(part: { type: string; text?: string; data?: string }): string {
  return part.text ?? Buffer.from(part.data ?? '', 'base64').toString('utf8')
}
