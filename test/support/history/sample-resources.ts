import { sha256 } from '../../../src/encoding/hash.ts'
import { Descriptor } from '../../../src/model/descriptor.ts'
import type { EventDraft, WholeEvent } from '../../../src/model/events/event.ts'
import { EventId } from '../../../src/model/ids.ts'
import { SAMPLE_SESSION } from './log-generator.ts'

/** A descriptor whose other fields are derived from its handle. */
export function sampleDescriptor(handle: string, more: object = {}): Descriptor {
  const n = /\d+$/.exec(handle)?.[0] ?? '0'
  const content_sha256 = sha256(handle)
  return Descriptor.parse({
    resource_id: `res_01kg8m2q3r4s5t6v7w8x9y${idEnd(n)}`,
    handle,
    kind: 'image',
    name: `${handle.slice(1)}.png`,
    media_type: 'image/png',
    size_bytes: 3,
    content_sha256,
    blob: `${content_sha256}.png`,
    source: 'cli',
    rehydratable: true,
    ...more,
  })
}

/** Events as folds receive them, numbered from 0. */
export function wholeEvents(drafts: readonly EventDraft[]): WholeEvent[] {
  return drafts.map((draft, seq) => ({
    v: 1,
    seq,
    id: EventId.parse(`evt_01kg8m2q3r4s5t6v7w8x9y${idEnd(String(seq))}`),
    session_id: SAMPLE_SESSION,
    ts: '2026-01-31T12:00:00.000Z',
    prev: null,
    crc: '00000000',
    ...draft,
  }))
}

/** The last four characters of an id. */
function idEnd(number: string): string {
  return number.padStart(2, '0').padStart(4, '0z')
}
