import * as z from 'zod'
import { timestamp } from '../../../../host/clock.ts'
import { failed, ok, type Failed, type Result } from '../../../../model/errors.ts'
import { Frame } from '../../../../model/tether/frame.ts'
import { deliver } from '../../../../tether/deliver.ts'
import { AcceptedFrameShape } from '../../../../tether/tether-shapes.ts'
import type { AcceptedFrame, StoredImage, Tether } from '../../../../tether/tether.ts'
import { promptOf } from '../../input/prompt.ts'
import { wholePath } from '../../input/whole-path.ts'
import { withProgress } from '../../render/progress.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { INSTANCE_SEND } from '../../definitions/instances.ts'
import { EXIT, exitCodeOf } from '../../world/exit-code.ts'
import { stopOnSignals } from '../../world/until-stopped.ts'
import type { CliWorld } from '../../world/world.ts'
import { answerImages, type ImagePlace } from './answer-images.ts'
import { FrameWords } from './frame-words.ts'
import { imagesNamed } from './sent-images.ts'
import { aboutInstance, instancesOf } from './instances-place.ts'
import { picturesSetting } from './pictures-setting.ts'

export const Output = AcceptedFrameShape.extend({
  ok: z.literal(true),
  answer: Frame.optional().describe('With --wait: the frame that ends the message.'),
  saved: z.array(z.string()).optional().describe('With --save: the paths of the images.'),
})

/** Sends a message, and waits for its answer with `--wait`. */
export const run: Run<typeof INSTANCE_SEND> = async (world, input) => {
  const { args, options } = input
  const { attach, save } = options
  if (save !== undefined && !options.wait) return failed('invalid_args', '--save requires --wait.')
  const has = { hasAttachments: attach.length > 0, stdin: attach.includes('-') }
  const prompt = await promptOf(world, args[1], has)
  if (!prompt.ok) return prompt
  const images = await imagesNamed(world, attach)
  if (!images.ok) return images
  const folder = save === undefined ? ok(undefined) : wholePath(world, save)
  if (!folder.ok) return folder
  const tether = instancesOf(world)
  const sent = await send(world, tether, input, prompt.value.text, images.value)
  if (!sent.ok) return sent
  if (options.wait) {
    const setting = await picturesSetting(world)
    const place = { tether, name: args[0], save: folder.value, setting }
    return waitForAnswer(world, place, options, sent.value)
  }
  const words = () => `Sent. To read the answer: ${readCommand(args[0], sent.value)}\n`
  return answer(world, sent.value, words)
}

async function send(
  world: CliWorld,
  tether: Tether,
  { args: [name], options: { session, replace } }: CommandInput<typeof INSTANCE_SEND>,
  text: string,
  images: readonly StoredImage[],
): Promise<Result<AcceptedFrame>> {
  const home = await world.openHome()
  if (!home.ok) return home
  const msg_id = home.value.ids.event().replace('evt_', 'cli_')
  await home.value.close()
  const message = {
    ts: timestamp(world.clock),
    session: { channel: 'host', id: session },
    msg_id,
    payload: { text, ...(replace ? { when_busy: 'replace' as const } : {}) },
    images,
  }
  return withProgress(world, 'Sending', () =>
    aboutInstance(tether, name, deliver(tether, name, message)),
  )
}

async function waitForAnswer(
  world: CliWorld,
  place: ImagePlace,
  { json, session }: CommandInput<typeof INSTANCE_SEND>['options'],
  sent: AcceptedFrame,
): Promise<Result<number>> {
  const stopping = stopOnSignals(world)
  try {
    const end = await withProgress(world, 'Waiting for the answer', () =>
      answerTo(place, session, sent, stopping.signal),
    )
    if (!end.ok) return end
    const images = await answerImages(world, place, end.value)
    if (!images.ok) return images
    const saved = images.value.flatMap(({ path }) => path ?? [])
    const output = { ...sent, answer: end.value, ...(saved.length === 0 ? {} : { saved }) }
    if (!json && end.value.type === 'error') return failedAnswer(end.value)
    const words = () =>
      new FrameWords().of(end.value) + images.value.map((image) => image.words).join('')
    answer(world, output, words)
    return ok(exitCodeOfAnswer(end.value))
  } finally {
    stopping.stopListening()
  }
}

const WAIT_MS = 30_000
const ENDS = ['assistant.done', 'error'] as const

/** The frame that ends the message. */
async function answerTo(
  { tether, name }: ImagePlace,
  session_id: string,
  { msg_id, ingress_seq }: AcceptedFrame,
  signal: AbortSignal,
): Promise<Result<Frame>> {
  const filter = { channel: 'host', session_id, reply_to_msg_id: msg_id, types: ENDS }
  let after_seq = ingress_seq
  while (!signal.aborted) {
    const page = await tether.poll(name, { ...filter, after_seq }, { waitMs: WAIT_MS, signal })
    if (signal.aborted) break
    if (!page.ok) return page
    const [end] = page.value.frames
    if (end !== undefined) return ok(end)
    after_seq = page.value.next_seq
  }
  return failed('interrupted', 'Stopped waiting. The Instance continues to work.', { msg_id }, [
    { action: 'Read the answer later.', command: readCommand(name, { ingress_seq }) },
  ])
}

function readCommand(name: string, { ingress_seq }: Pick<AcceptedFrame, 'ingress_seq'>): string {
  return `hawser instance read ${name} --after ${ingress_seq} --follow`
}

function failedAnswer({ payload }: Extract<Frame, { type: 'error' }>): Failed {
  const { kind, message, retryable } = payload
  return failed(kind, message, { retryable })
}

function exitCodeOfAnswer(end: Frame): number {
  if (end.type === 'error') return exitCodeOf(end.payload.kind)
  if (end.type !== 'assistant.done' || end.payload.status === 'completed') return EXIT.done
  return end.payload.status === 'interrupted' ? EXIT.interrupted : EXIT.failed
}
