import { SessionResources } from '../history/session-resources.ts'
import type { ToolResources } from '../tools/tool.ts'
import type { TurnParts } from './turn-parts.ts'
import { permitUpload } from './uploads.ts'

/** The Session Resources as a call sees them, or, without one, as a person's own wish does. */
export function toolResources(parts: TurnParts, call_id?: string): ToolResources {
  return {
    known: () => new SessionResources(parts.events()),
    mayShow: (descriptor) => permitUpload(parts, descriptor, call_id),
    payload: (blob) => parts.store.get(blob),
    variants: parts.variants,
    ingest: parts.ingest,
    name: parts.nameResource,
  }
}
