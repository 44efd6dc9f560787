import { shownBytes } from '../../../../encoding/amounts.ts'
import { saveFile } from '../../../../host/files/save-file.ts'
import { ok, type Result } from '../../../../model/errors.ts'
import type { Frame } from '../../../../model/tether/frame.ts'
import { imageSize } from '../../../../tether/image-size.ts'
import type { Tether } from '../../../../tether/tether.ts'
import { pictureOf, pictureWays, standing } from '../../render/picture.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CliWorld } from '../../world/world.ts'

export interface ImagePlace {
  readonly tether: Tether
  readonly name: string
  /** The folder to save images in, absolute. */
  readonly save: string | undefined
  /** Whether images are drawn where the terminal can. */
  readonly setting: 'auto' | 'never' | undefined
}

/** An image of an answer: saved, drawn, or described with a way to save it. */
export interface ShownImage {
  readonly blob: string
  readonly path?: string
  readonly words: string
}

/** The images of an answer, in their order. A missing one is named in its place. Fails if one cannot be saved. */
export async function answerImages(
  { env, streams: { stdout } }: CliWorld,
  { tether, name, save, setting }: ImagePlace,
  frame: Frame,
): Promise<Result<readonly ShownImage[]>> {
  const images = frame.type === 'assistant.done' ? (frame.payload.images ?? []) : []
  const ways = pictureWays(env)
  const canDraw = stdout.isTTY && setting !== 'never' && (ways.kitty || ways.iterm)
  const shown: ShownImage[] = []
  for (const { blob, media_type, size } of images) {
    if (save === undefined && !canDraw) {
      const how = `hawser instance read ${name} --after ${frame.seq - 1} --limit 1 --save .`
      const words = `[${media_type}, ${shownBytes(size)}: ${blob}; to save it: ${how}]\n`
      shown.push({ blob, words: visibleLine(words.trimEnd()) + '\n' })
      continue
    }
    const found = await tether.image(name, blob)
    if (!found.ok) {
      shown.push({ blob, words: `[${visibleLine(found.error.message)}]\n` })
      continue
    }
    const { bytes } = found.value
    if (save !== undefined) {
      const saved = await saveFile(save, blob, bytes)
      if (!saved.ok) return saved
      shown.push({ blob, path: saved.value, words: `[saved: ${visibleLine(saved.value)}]\n` })
      continue
    }
    const pixels = imageSize(bytes)
    const room = { columns: stdout.columns, rows: stdout.rows }
    const picture = pixels && pictureOf({ bytes, media_type, ...pixels }, ways, room)
    const words = `[${media_type}, ${shownBytes(size)}: ${blob}]\n`
    shown.push({ blob, words: picture === undefined ? words : `${standing(picture)}${words}` })
  }
  return ok(shown)
}
