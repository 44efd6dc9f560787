import type * as z from 'zod'
import { timestamp, type Clock } from '../../host/clock.ts'
import type { Ids } from '../../host/ids.ts'
import { ok, type Result } from '../../model/errors.ts'
import { deliver } from '../../tether/deliver.ts'
import type { AcceptedFrame, InstanceAct, Tether } from '../../tether/tether.ts'
import {
  CHANNEL,
  CreateInput,
  InstanceInput,
  InstanceOutput,
  ListInput,
  ListOutput,
  TetherReadInput,
  ReadOutput,
  SendInput,
  SendOutput,
  inputSchema,
  outputSchema,
} from './protocol.ts'
import { readFrames } from './read-frames.ts'
import type { ServedTool, CallContext, CallResult } from './tool.ts'
import { checkedInput, failureResult, newMessage, valueResult } from './translate.ts'
import { TOOL_WORDS, type ToolName } from './words.ts'

export interface TetherToolParts {
  readonly tether: Tether
  readonly clock: Clock
  readonly ids: Pick<Ids, 'request'>
}

/** The tools of Hawser, in the order in which clients list them. */
export function tetherTools(parts: TetherToolParts): readonly ServedTool[] {
  const { tether } = parts
  const act = (name: ToolName, what: InstanceAct) =>
    tool(name, { input: InstanceInput, output: InstanceOutput }, async ({ instance }) =>
      asResult(await tether.act(instance, what)),
    )
  return [
    tool('tether_send', { input: SendInput, output: SendOutput }, async (input) =>
      asResult(await send(parts, input)),
    ),
    tool('tether_read', { input: TetherReadInput, output: ReadOutput }, async (input, context) => {
      const read = await readFrames(parts, input, context)
      return read.ok ? valueResult(read.value.page, read.value.images) : failureResult(read.error)
    }),
    tool('instance_create', { input: CreateInput, output: InstanceOutput }, async (input) =>
      asResult(await tether.create(input, 'mcp')),
    ),
    tool('instance_list', { input: ListInput, output: ListOutput }, async () => {
      const listed = await tether.list()
      return asResult(listed.ok ? ok({ instances: listed.value }) : listed)
    }),
    tool('instance_info', { input: InstanceInput, output: InstanceOutput }, async ({ instance }) =>
      asResult(await tether.info(instance)),
    ),
    act('instance_start', 'start'),
    act('instance_stop', 'stop'),
  ]
}

async function send(
  { tether, clock, ids }: TetherToolParts,
  input: SendInput,
): Promise<Result<AcceptedFrame>> {
  const { instance, session_id = 'default' } = input
  const message = newMessage(input)
  if (!message.ok) return message
  const { text, images } = message.value
  return deliver(tether, instance, {
    ts: timestamp(clock),
    session: { channel: CHANNEL, id: session_id },
    msg_id: `${CHANNEL}-${ids.request()}`,
    payload: { text },
    images,
  })
}

interface Shapes<T> {
  readonly input: z.ZodType<T>
  readonly output: z.ZodObject
}

function tool<T>(
  name: ToolName,
  { input, output }: Shapes<T>,
  run: (input: T, context: CallContext) => Promise<CallResult>,
): ServedTool {
  return {
    definition: {
      name,
      ...TOOL_WORDS[name],
      inputSchema: inputSchema(input),
      outputSchema: outputSchema(output),
    },
    call: async (args, context) => {
      const checked = checkedInput(input, args)
      return checked.ok ? run(checked.value, context) : failureResult(checked.error)
    },
  }
}

function asResult(result: Result<object>): CallResult {
  return result.ok ? valueResult(result.value) : failureResult(result.error)
}
