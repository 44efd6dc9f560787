import { Descriptor } from '../../../src/model/descriptor.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import { NO_USAGE } from '../../../src/turn/usage.ts'
import type { HarnessPlace } from '../session/harness-place.ts'
import { value } from '../log/story.ts'

/**
 * A Session whose last Turn attached images and got no answer, so that the next Turn carries them. The Events are written
 * directly, so the images need not be valid.
 */
export async function sessionWithImages(
  place: HarnessPlace,
  provider: string,
  images: readonly Buffer[],
): Promise<Session> {
  const session = value(await place.harness.create({ provider, model: 'a-model' }))
  const { ids } = place.parts.log.place
  const turn_id = ids.turn()
  const resources = await Promise.all(images.map((bytes, n) => described(place, bytes, n + 1)))
  const drafts: EventDraft[] = [
    { type: 'turn_started', turn_id, data: { source: { presenter: 'test' } } },
    { type: 'user_message', turn_id, data: { text: 'Look.', prompt_mode: 'blocks', resources } },
    { type: 'turn_ended', turn_id, data: { status: 'interrupted', usage_total: NO_USAGE } },
  ]
  value(await session.between(({ record }) => record(drafts)))
  return session
}

async function described(place: HarnessPlace, bytes: Buffer, n: number): Promise<Descriptor> {
  const blob = value(await place.parts.log.store.put([bytes], 'image/png'))
  return Descriptor.parse({
    resource_id: `res_01kg8m2q3r4s5t6v7w8x9y0z1${n}`,
    handle: `@img${n}`,
    kind: 'image',
    name: `${n}.png`,
    media_type: 'image/png',
    size_bytes: bytes.length,
    content_sha256: blob.slice(0, 64),
    blob,
    width: 10 * n,
    height: 10,
    source: 'cli',
    rehydratable: true,
  })
}
