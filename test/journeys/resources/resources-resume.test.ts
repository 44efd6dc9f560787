import { cp, rename, rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { Session } from '../../../src/session/session.ts'
import { lastAnswer, oneOfEach, say } from '../../support/resources/sample-files.ts'
import { projected, verified } from '../../support/resources/resource-events.ts'
import { visionPlace, type SeenRequest } from '../../support/resources/vision-place.ts'
import { value } from '../../support/log/story.ts'
import { WAYS } from '../../support/providers/ways.ts'

function hashes(session: Session): string[] {
  return session.events.flatMap((e) =>
    e.type === 'provider_request' ? [e.data.request_sha256] : [],
  )
}

const CASES = WAYS.flatMap((way) =>
  (['attach-turn', 'window', 'cost-aware'] as const).map((replay) => ({ way, replay })),
)

test.each(CASES)(
  '[SR-001] [SR-018] $way, $replay: a resumed Session sends the same bytes as the open one',
  async ({ way, replay }) => {
    const doing: { session?: Session; interrupts: boolean } = { interrupts: false }
    const seen: SeenRequest[] = []
    const place = await visionPlace(way, {
      seen,
      changes: { model: { replay } },
      onSeen: () => (doing.interrupts ? doing.session?.interrupt() : undefined),
    })
    const files = await oneOfEach(place.workspace)
    const session = value(await place.harness.create(place.begin))
    doing.session = session
    const attachments = files.map(({ input }) => input)
    expect(await say(session, 'Look.', { attachments })).toBe('completed')
    expect(await say(session, 'View @img1')).toBe('completed')
    // The last attachments got no answer, so the next process must carry them.
    doing.interrupts = true
    expect(await say(session, 'And these?', { attachments })).toBe('interrupted')
    doing.interrupts = false
    const before = seen.length
    const kept = `${place.root}-as-it-was`
    await cp(place.root, kept, { recursive: true })
    // The attached files are no longer needed.
    for (const { path } of files) await rm(path)
    expect(await goOn(session)).toEqual(['completed', 'completed', 'completed'])
    await session.close()
    const live = {
      seen: seen.splice(before),
      requests: hashes(session),
      answer: lastAnswer(session),
    }
    expect(projected(session).at(-1)).not.toEqual([])
    await verified(place, session)

    await rm(place.root, { recursive: true })
    await rename(kept, place.root)
    for (const { path } of files) await rm(path)
    const again = await visionPlace(way, { root: place.root, vendor: place.vendor, seen })
    const resumed = value(await again.harness.open(session.id))
    expect(await goOn(resumed)).toEqual(['completed', 'completed', 'completed'])
    await resumed.close()
    const late = {
      seen: seen.slice(before),
      requests: hashes(resumed),
      answer: lastAnswer(resumed),
    }
    expect(late).toEqual(live)
    await verified(again, resumed)
  },
)

/** A Turn with carried attachments, one without, and one with a view. */
async function goOn(session: Session): Promise<string[]> {
  return [
    await say(session, 'Well?'),
    await say(session, 'Thank you.'),
    await say(session, 'What do you see?', { views: ['@img4', '@txt3'] }),
  ]
}
