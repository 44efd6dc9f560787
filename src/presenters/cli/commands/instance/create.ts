import { failed, ok, type Result } from '../../../../model/errors.ts'
import { DEFAULT_IDLE } from '../../../../model/tether/instance.ts'
import type { InstanceRequest } from '../../../../model/tether/instance.ts'
import { wholeNumber } from '../../input/whole-number.ts'
import { wholePath } from '../../input/whole-path.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { INSTANCE_CREATE } from '../../definitions/instances.ts'
import type { CliWorld } from '../../world/world.ts'
import { infoWords, InstanceOutput, writesWords } from './instance-words.ts'
import { instancesOf } from './instances-place.ts'

export const Output = InstanceOutput

/** Creates an Instance. It starts with its first message. */
export const run: Run<typeof INSTANCE_CREATE> = async (world, input) => {
  const request = requestOf(world, input)
  if (!request.ok) return request
  const tether = instancesOf(world)
  const made = await tether.create(request.value, 'operator')
  if (!made.ok) return made
  const { handle } = made.value
  const isMapped = request.value.workspace !== OWN
  const words = () =>
    `${infoWords(made.value)}${isMapped ? writesWords(made.value) : ''}To send it a message: hawser instance send ${handle} "Hello" --wait\n`
  return answer(world, { instance: made.value }, words)
}

/** A path is relative to the current folder here; the server gets an absolute one. */
function requestOf(
  world: CliWorld,
  { args: [handle], options }: CommandInput<typeof INSTANCE_CREATE>,
): Result<InstanceRequest> {
  const { workspace: named, provider, model, isolation } = options
  const workspace = named === undefined || named === OWN ? ok(named) : wholePath(world, named)
  if (!workspace.ok) return workspace
  const pause = wholeNumber(options.pauseAfter, '--pause-after', MOST_SECONDS)
  if (!pause.ok) return pause
  const stop = wholeNumber(options.stopAfter, '--stop-after', MOST_SECONDS)
  if (!stop.ok) return stop
  const message = wholeNumber(options.messageTimeout, '--message-timeout', MOST_SECONDS)
  if (!message.ok) return message
  const ceiling = options.ceiling === undefined ? undefined : Number(options.ceiling)
  if (ceiling !== undefined && !(/^\d+(\.\d+)?$/.test(options.ceiling ?? '') && ceiling >= 0))
    return failed('invalid_args', '--ceiling must be an amount in US dollars, such as 2.50.')
  const hasIdle = pause.value !== undefined || stop.value !== undefined
  const idle = {
    pause_seconds: pause.value ?? DEFAULT_IDLE.pause_seconds,
    stop_seconds: stop.value ?? DEFAULT_IDLE.stop_seconds,
  }
  return ok({
    handle,
    workspace: workspace.value,
    provider,
    model,
    isolation,
    idle: hasIdle ? idle : undefined,
    message_seconds: message.value,
    ceiling_usd: ceiling,
  })
}

const OWN = 'own'
const MOST_SECONDS = 9_999_999
