import type { EventData } from './events/event.ts'
import { ResourceId } from './ids.ts'

const UPLOAD = 'upload:'

/** The subject of a permission decision about sending a Resource's bytes to the model. */
export function uploadSubject(resource: ResourceId): string {
  return `${UPLOAD}${resource}`
}

/** The Resource whose bytes a permission decision is about; undefined if it is about something else. */
export function uploadedResource(subject: string): ResourceId | undefined {
  if (!subject.startsWith(UPLOAD)) return undefined
  return ResourceId.safeParse(subject.slice(UPLOAD.length)).data
}

/** The Resource that a decision withholds from the model. An interrupt is not an answer, so it withholds nothing. */
export function withheldBy({
  subject,
  decision,
  by,
}: Pick<EventData<'permission_decision'>, 'subject' | 'decision' | 'by'>): ResourceId | undefined {
  return decision === 'denied' && by !== 'interrupt' ? uploadedResource(subject) : undefined
}

/** The subject of a permission decision about fetching facts for a Skill. */
export function hydrationSubject(skill: string, context_source_id: string): string {
  return `hydration:${skill}/${context_source_id}`
}
