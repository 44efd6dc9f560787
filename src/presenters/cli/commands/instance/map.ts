import * as z from 'zod'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { wholePath } from '../../input/whole-path.ts'
import { withProgress } from '../../render/progress.ts'
import { answer, refuse } from '../../world/answer.ts'
import type { CommandInput } from '../../world/command.ts'
import type { CliWorld } from '../../world/world.ts'
import { infoWords, InstanceOutput, writesWords } from './instance-words.ts'
import { aboutInstance, inInstances } from './instances-place.ts'

const MapArgs = z.object({
  args: z.tuple([z.string(), z.string().optional()]),
  options: z.object({ none: z.boolean().default(false), json: z.boolean().default(false) }),
})
type MapArgs = z.infer<typeof MapArgs>

export const Output = InstanceOutput

/** Gives an Instance another workspace, and shows it. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const parsed = MapArgs.parse(commandInput)
  const { json } = parsed.options
  const workspace = workspaceOf(world, parsed)
  if (!workspace.ok) return refuse(world, json, workspace.error)
  const [name] = parsed.args
  return inInstances(world, json, async (tether) => {
    const mapped = await withProgress(world, 'Mapping the Instance', () =>
      aboutInstance(tether, name, tether.map(name, workspace.value)),
    )
    if (!mapped.ok) return mapped
    const isMapped = workspace.value !== OWN
    const words = () => `${infoWords(mapped.value)}${isMapped ? writesWords(mapped.value) : ''}`
    return ok(answer(world, json, { instance: mapped.value }, words))
  })
}

const OWN = 'own'

/** A path is relative to the current folder here; the server gets an absolute one. */
function workspaceOf(
  world: CliWorld,
  { args: [name, dir], options: { none } }: MapArgs,
): Result<string | null> {
  if ((dir === undefined) !== none)
    return failed('invalid_args', 'Pass either a folder or --none.', {}, [
      { action: 'Map it to this folder.', command: `hawser instance map ${name} .` },
      { action: 'Leave it without a workspace.', command: `hawser instance map ${name} --none` },
    ])
  if (dir === undefined) return ok(null)
  return dir === OWN ? ok(dir) : wholePath(world, dir)
}
