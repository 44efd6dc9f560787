import type { EventData } from '../model/events/event.ts'
import type { ResourceId } from '../model/ids.ts'
import { uploadedResource } from '../model/permission-subject.ts'

/** The Resource that a decision withholds from the model. An interrupt is not an answer, so it withholds nothing. Pure. */
export function withheldBy({
  subject,
  decision,
  by,
}: EventData<'permission_decision'>): ResourceId | undefined {
  return decision === 'denied' && by !== 'interrupt' ? uploadedResource(subject) : undefined
}
