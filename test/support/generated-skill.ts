import { sha256 } from '../../src/encoding/hash.ts'
import type { EventDraft } from '../../src/model/events/event.ts'
import type { BlobKey, EventId } from '../../src/model/ids.ts'

/** The activation of a Skill with this body. */
export function generatedSkill(blob: BlobKey): EventDraft {
  return {
    type: 'skill_activation',
    data: {
      name: 'review',
      args: '',
      source: 'user',
      path: 'review',
      content_sha256: blob.slice(0, 64),
      blob,
      trust: 'trusted',
      activated_by: 'user',
    },
  }
}

/** Context that a Skill loaded. */
export function generatedHydration(activation_event_id: EventId, output: string): EventDraft {
  return {
    type: 'skill_context_hydration',
    data: {
      skill: { name: 'review', content_sha256: sha256('s') },
      activation_event_id,
      context_source_id: 'diff',
      produced_by: { kind: 'command', name: 'git', args: null },
      permission: { mode: 'ask', decision: 'allowed', explicit: true },
      invoked_by: 'person',
      status: 'ok',
      output,
      output_sha256: sha256(output),
      output_bytes: output.length,
      duration_ms: 1,
    },
  }
}
