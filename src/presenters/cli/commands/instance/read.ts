import * as z from 'zod'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { Frame } from '../../../../model/tether/frame.ts'
import { MOST_LIMIT } from '../../../../tether/frames/frame-query.ts'
import type { LiveFrame } from '../../../../tether/frames/frame-log.ts'
import { MissingFrames } from '../../../../tether/tether-shapes.ts'
import type { Tether } from '../../../../tether/tether.ts'
import { wholeNumber } from '../../input/whole-number.ts'
import { wholePath } from '../../input/whole-path.ts'
import { jsonLine } from '../../text/json-line.ts'
import type { Run } from '../../world/command.ts'
import type { INSTANCE_READ } from '../../definitions/instances.ts'
import { EXIT } from '../../world/exit-code.ts'
import { stopOnSignals } from '../../world/until-stopped.ts'
import type { CliWorld } from '../../world/world.ts'
import { answerImages, type ImagePlace } from './answer-images.ts'
import { FrameWords, LIVE_TYPES, SHOWN_TYPES } from './frame-words.ts'
import { aboutInstance, instancesOf } from './instances-place.ts'
import { picturesSetting } from './pictures-setting.ts'

/** One line of standard output. */
export const Output = z
  .union([
    Frame,
    MissingFrames.extend({ type: z.literal('missing') }),
    z.object({ type: z.literal('saved'), blob: z.string(), path: z.string() }),
  ])
  .describe('JSON Lines: frames, with --save images that were saved, and gaps with --follow.')

/** Shows frames: the latest, those after a number, or all that arrive until a signal. */
export const run: Run<typeof INSTANCE_READ> = async (world, { args: [name], options }) => {
  const { follow, session, save, json } = options
  const after = seqOf(options.after)
  if (!after.ok) return after
  const limit = wholeNumber(options.limit, '--limit', MOST_LIMIT)
  if (!limit.ok) return limit
  const folder = save === undefined ? ok(undefined) : wholePath(world, save)
  if (!folder.ok) return folder
  const tether = instancesOf(world)
  const setting = await picturesSetting(world)
  const place = { tether, name, save: folder.value, setting }
  const printer = new FramePrinter(world, place, json)
  const types = json ? undefined : follow ? LIVE_TYPES : SHOWN_TYPES
  const asked = { session_id: session, types, after: after.value, limit: limit.value }
  const read = follow ? await followFrames(world, printer, asked) : await printPages(printer, asked)
  world.streams.stdout.write(printer.end())
  return read
}

interface FrameSelection {
  readonly session_id: string | undefined
  readonly types: readonly string[] | undefined
  readonly after: number | undefined
  readonly limit: number | undefined
}

const LAST = Number.MAX_SAFE_INTEGER
const USUAL_LIMIT = 50

/** The latest frames; with a cursor, all after it, or as many as wanted. */
async function printPages(printer: FramePrinter, asked: FrameSelection): Promise<Result<number>> {
  const { session_id, types, after, limit } = asked
  const { tether, name } = printer.place
  const filter = { session_id, types }
  if (after === undefined) {
    const query = { ...filter, before_seq: LAST, limit: limit ?? USUAL_LIMIT }
    const page = await aboutInstance(tether, name, tether.poll(name, query))
    return page.ok ? printAll(printer, page.value.frames) : page
  }
  let [cursor, left] = [after, limit ?? Infinity]
  while (left > 0) {
    const query = { ...filter, after_seq: cursor, limit: Math.min(left, MOST_LIMIT) }
    const page = await aboutInstance(tether, name, tether.poll(name, query))
    if (!page.ok) return page
    const { frames, next_seq } = page.value
    const printed = await printAll(printer, frames)
    if (!printed.ok || printer.isOver) return printed
    if (next_seq === cursor) break
    cursor = next_seq
    left -= frames.length
  }
  return ok(EXIT.done)
}

async function printAll(printer: FramePrinter, frames: readonly Frame[]): Promise<Result<number>> {
  for (const frame of frames) {
    const printed = await printer.print({ kind: 'frame', frame })
    if (!printed.ok) return printed
  }
  return ok(EXIT.done)
}

/** A signal is the regular way to end following, not a failure. */
async function followFrames(
  world: CliWorld,
  printer: FramePrinter,
  { session_id, types, after, limit = Infinity }: FrameSelection,
): Promise<Result<number>> {
  const { tether, name } = printer.place
  const stopping = stopOnSignals(world)
  try {
    const { signal } = stopping
    const following = tether.follow(name, after, { session_id, types }, signal)
    const frames = await aboutInstance(tether, name, following)
    if (!frames.ok) return signal.aborted ? ok(EXIT.done) : frames
    let left = limit
    for await (const frame of frames.value) {
      const printed = await printer.print(frame)
      if (!printed.ok) return printed
      if (frame.kind === 'frame') left -= 1
      if (left <= 0 || printer.isOver) break
    }
    return ok(EXIT.done)
  } finally {
    stopping.stopListening()
  }
}

/** Prints frames with their images. */
class FramePrinter {
  readonly place: ImagePlace & { readonly tether: Tether }
  readonly #world: CliWorld
  readonly #json: boolean
  readonly #words = new FrameWords()

  constructor(world: CliWorld, place: ImagePlace, json: boolean) {
    this.#world = world
    this.place = place
    this.#json = json
  }

  /** The reader is gone. */
  get isOver(): boolean {
    return this.#world.streams.stdout.isBroken
  }

  async print(live: LiveFrame): Promise<Result<void>> {
    const { stdout, stderr } = this.#world.streams
    if (live.kind === 'failed') return live.failure
    if (live.kind === 'missing') {
      const { what, after_seq, through_seq } = live
      if (this.#json) stdout.write(jsonLine({ type: 'missing', what, after_seq, through_seq }))
      // Every answer contains the text of its deltas.
      else if (what === 'frames') stderr.write(`hawser: ${gap(after_seq, through_seq)}\n`)
      return ok(undefined)
    }
    const { frame } = live
    stdout.write(this.#json ? jsonLine(frame) : this.#words.of(frame))
    if (this.#json && this.place.save === undefined) return ok(undefined)
    const images = await answerImages(this.#world, this.place, frame)
    if (!images.ok) return images
    for (const { blob, path, words } of images.value) {
      if (!this.#json) stdout.write(words)
      else if (path !== undefined) stdout.write(jsonLine({ type: 'saved', blob, path }))
    }
    await stdout.flush()
    return ok(undefined)
  }

  end(): string {
    return this.#json ? '' : this.#words.end()
  }
}

function gap(after: number, through: number): string {
  return `frames ${after + 1} to ${through} were deleted, because they are too old or too many.`
}

function seqOf(text: string | undefined): Result<number | undefined> {
  if (text === undefined) return ok(undefined)
  if (/^\d{1,15}$/.test(text)) return ok(Number(text))
  return failed('invalid_args', '--after must be the number of a frame, or 0.')
}
