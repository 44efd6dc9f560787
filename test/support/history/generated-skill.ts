import { sha256 } from '../../../src/encoding/hash.ts'
import type { Descriptor } from '../../../src/model/descriptor.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import type { BlobKey, EventId } from '../../../src/model/ids.ts'

/** The activation of a Skill with this body; with `sources`, it declares some, and the size of its body is known. */
export function generatedSkill(blob: BlobKey, sources: boolean): EventDraft {
  const more = {
    body_bytes: 9,
    context_sources: [
      {
        id: 'diff',
        description: 'what changed',
        from: { kind: 'command' as const, argv: ['git', 'diff'] },
        max_bytes: 100,
        timeout_ms: 100,
      },
    ],
  }
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
      ...(sources ? more : {}),
    },
  }
}

/** Context that a Skill loaded; `cut`: it is part of a Resource. */
export function generatedHydration(
  activation_event_id: EventId,
  output: string,
  more: { readonly failed: boolean; readonly cut?: string | undefined },
): EventDraft {
  const whole = {
    truncated: true,
    whole_bytes: output.length * 2,
    whole_sha256: sha256(output + output),
    handle: more.cut,
    invalid_bytes_replaced: 3,
  }
  return {
    type: 'skill_context_hydration',
    data: {
      skill: { name: 'review', content_sha256: sha256('s') },
      activation_event_id,
      context_source_id: 'diff',
      produced_by: { kind: 'command', name: 'git', args: null },
      permission: { mode: 'ask', decision: 'allowed', explicit: true },
      invoked_by: 'person',
      ...(more.failed ? FAILED : { status: 'ok' as const }),
      output,
      output_sha256: sha256(output),
      output_bytes: output.length,
      ...(more.cut === undefined ? {} : whole),
      duration_ms: 1,
    },
  }
}

const FAILED = {
  status: 'failed' as const,
  error: { kind: 'hydration_failed' as const, message: 'no' },
}

/** The view of a Resource that a hydration shows. */
export function hydrationView({ resource_id, handle }: Descriptor): EventDraft {
  const data = { resource_id, handle, by: 'hydration', outcome: 'projected' } as const
  return { type: 'resource_view', data }
}
