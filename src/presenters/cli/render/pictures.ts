import type { Output } from '../../../host/output.ts'
import type { Descriptor } from '../../../model/descriptor.ts'
import type { Session } from '../../../session/session.ts'
import { MOST_PICTURE_BYTES, pictureOf, pictureWays, type Picture } from './picture.ts'
import type { CliWorld } from '../world/world.ts'

/** Draws a Resource of a Session; `undefined` if it is not an image, too large, or unreadable. */
export type DrawResource = (session: Session, resource: Descriptor) => Promise<Picture | undefined>

/** Returns how to draw images on a terminal; `undefined` if it does not support them or a setting disables them. */
export function drawingOn(
  output: Output,
  env: CliWorld['env'],
  setting: 'auto' | 'never' = 'auto',
): DrawResource | undefined {
  if (!output.isTTY || setting === 'never') return undefined
  const ways = pictureWays(env)
  if (!ways.kitty && !ways.iterm) return undefined
  return async (session, resource) => {
    if (resource.kind !== 'image') return undefined
    const { handle, media_type, width, height, size_bytes } = resource
    if (width === undefined || height === undefined) return undefined
    if (size_bytes > MOST_PICTURE_BYTES) return undefined
    const bytes = await session.resourceBytes(handle)
    if (!bytes.ok) return undefined
    const room = { columns: output.columns, rows: output.rows }
    return pictureOf({ bytes: bytes.value, media_type, width, height }, ways, room)
  }
}
