import { ResourceId } from './ids.ts'

const UPLOAD = 'upload:'
const HYDRATION = 'hydration:'

/** The subject of a permission decision about sending a Resource's bytes to the model. */
export function uploadSubject(resource: ResourceId): string {
  return `${UPLOAD}${resource}`
}

/** The Resource whose bytes a permission decision is about; undefined if it is about something else. */
export function uploadedResource(subject: string): ResourceId | undefined {
  if (!subject.startsWith(UPLOAD)) return undefined
  return ResourceId.safeParse(subject.slice(UPLOAD.length)).data
}

/** The subject of a permission decision about fetching facts for a Skill. */
export function hydrationSubject(skill: string, context_source_id: string): string {
  return `${HYDRATION}${skill}/${context_source_id}`
}

export function isHydrationSubject(subject: string): boolean {
  return subject.startsWith(HYDRATION)
}
