import { expect } from 'vitest'
import { SessionResources } from '../../../src/history/session-resources.ts'
import type { EventData } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import type { HarnessPlace } from '../session/harness-place.ts'
import { value } from '../log/story.ts'

// The facts about Resources in a Log, in the forms that journeys compare.

/** What each request recorded as projected: handle, hash of the sent bytes, and lifetime. */
export function projected(session: Session): string[][] {
  const known = new SessionResources(session.events)
  return session.events.flatMap((e) =>
    e.type === 'provider_request'
      ? [
          (e.data.projected ?? []).map(({ resource_id, content_sha256, variant, lifetime }) => {
            const sent = variant?.slice(0, 64) ?? content_sha256
            return `${known.byId(resource_id)?.descriptor.handle} ${sent} ${lifetime}`
          }),
        ]
      : [],
  )
}

/** All Resources that users attached, in order. */
export function resources(session: Session): NonNullable<EventData<'user_message'>['resources']> {
  return session.events.flatMap((e) => (e.type === 'user_message' ? (e.data.resources ?? []) : []))
}

/** Asserts that the Log is intact and that every request follows from it. */
export async function verified(
  { harness }: Pick<HarnessPlace, 'harness'>,
  session: Session,
): Promise<void> {
  const { log, requests } = value(await harness.verify(session.id, { requests: true }))
  expect([log.damage, requests?.mismatches]).toEqual([undefined, []])
  const causes = session.events.flatMap((e) =>
    e.type === 'provider_request' ? [e.data.prefix_break?.cause] : [],
  )
  expect(causes).not.toContain('unknown')
}
