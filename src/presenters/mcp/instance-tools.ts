import * as z from 'zod'
import { ok } from '../../model/errors.ts'
import { InstanceArgument, NAME_CHARACTERS } from './arguments.ts'
import { ACTS, asResult, READS, tool } from './definition.ts'
import type { ServedTool, ToolParts } from './tool.ts'

/** Creating, listing, starting and stopping Instances, in the order in which clients list these tools. */
export function instanceTools({ tether }: ToolParts): readonly ServedTool[] {
  return [
    tool({
      name: 'instance_create',
      title: 'Create an Instance',
      description:
        'Creates an Instance: a sandboxed agent with a name, a workspace folder and separate conversations. It is not started: the first message does that. Create one per task or project, and use it again by its handle.',
      annotations: { ...ACTS, destructiveHint: false, openWorldHint: false },
      input: CreateInput,
      output: InstanceOutput,
      run: async (input) => asResult(await tether.create(input, 'mcp')),
    }),
    tool({
      name: 'instance_list',
      title: 'List Instances',
      description: 'Lists all Instances with their handles, states and workspaces. Wakes none.',
      annotations: READS,
      input: z.strictObject({}),
      output: z.object({ instances: z.array(InstanceOutput) }),
      run: async () => {
        const listed = await tether.list()
        return asResult(listed.ok ? ok({ instances: listed.value }) : listed)
      },
    }),
    tool({
      name: 'instance_info',
      title: 'Show an Instance',
      description:
        'Shows one Instance: its state, its workspace, how many messages have not ended, what it spent, and why it stopped if it failed. Does not wake it.',
      annotations: READS,
      input: InstanceInput,
      output: InstanceOutput,
      run: async ({ instance }) => asResult(await tether.info(instance)),
    }),
    tool({
      name: 'instance_start',
      title: 'Start an Instance',
      description:
        'Starts an Instance now, and waits until it is ready. Not needed before a message, which starts it too; useful after an error wake_failed, once its cause is fixed.',
      annotations: { ...ACTS, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      input: InstanceInput,
      output: InstanceOutput,
      run: async ({ instance }) => asResult(await tether.act(instance, 'start')),
    }),
    tool({
      name: 'instance_stop',
      title: 'Stop an Instance',
      description:
        'Stops an Instance. The message that it works on ends as interrupted; messages that wait stay stored. The next message, or instance_start, starts it again with all its conversations.',
      annotations: { ...ACTS, idempotentHint: true, openWorldHint: false },
      input: InstanceInput,
      output: InstanceOutput,
      run: async ({ instance }) => asResult(await tether.act(instance, 'stop')),
    }),
  ]
}

const PATH_CHARACTERS = 4_096

const InstanceInput = z.strictObject({ instance: InstanceArgument })

const CreateInput = z.strictObject({
  handle: z
    .string()
    .max(NAME_CHARACTERS)
    .describe('Name for the Instance: 1 to 64 lower-case letters, digits, "-" and "_".'),
  workspace: z
    .string()
    .min(1)
    .max(PATH_CHARACTERS)
    .describe(
      'Folder that the agent works in: an absolute path below a folder of the setting instances.roots, or "own" for a private, empty folder. Default: "own".',
    )
    .optional(),
  provider: z
    .string()
    .min(1)
    .max(NAME_CHARACTERS)
    .describe('Model provider. Default: as configured by the user.')
    .optional(),
  model: z
    .string()
    .min(1)
    .max(NAME_CHARACTERS)
    .describe('Model. Default: as configured by the user.')
    .optional(),
})

const InstanceOutput = z.looseObject({
  id: z.string(),
  handle: z.string(),
  state: z.enum(['stopped', 'starting', 'running', 'paused']),
  enabled: z.boolean().describe('A disabled Instance accepts no messages.'),
  waiting: z.int().describe('Messages that have not ended.'),
  isolation: z.string(),
  workspace: z.string().optional().describe('Without it, images are refused in both directions.'),
  reason: z
    .looseObject({ kind: z.string(), message: z.string() })
    .optional()
    .describe('Why it stopped, unless it was idle or stopped on request.'),
  spend: z.looseObject({ usd: z.number(), calls: z.int() }),
})
