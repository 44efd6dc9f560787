import { failed, ok, type Result } from '../../../../model/errors.ts'
import { wholePath } from '../../input/whole-path.ts'
import { withProgress } from '../../render/progress.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { INSTANCE_MAP } from '../../definitions/instances.ts'
import type { CliWorld } from '../../world/world.ts'
import { infoWords, InstanceOutput, writesWords } from './instance-words.ts'
import { aboutInstance, instancesOf } from './instances-place.ts'

export const Output = InstanceOutput

/** Gives an Instance another workspace, and shows it. */
export const run: Run<typeof INSTANCE_MAP> = async (world, input) => {
  const workspace = workspaceOf(world, input)
  if (!workspace.ok) return workspace
  const [name] = input.args
  const tether = instancesOf(world)
  const mapped = await withProgress(world, 'Mapping the Instance', () =>
    aboutInstance(tether, name, tether.map(name, workspace.value)),
  )
  if (!mapped.ok) return mapped
  const isMapped = workspace.value !== OWN
  const words = () => `${infoWords(mapped.value)}${isMapped ? writesWords(mapped.value) : ''}`
  return answer(world, { instance: mapped.value }, words)
}

const OWN = 'own'

/** A path is relative to the current folder here; the server gets an absolute one. */
function workspaceOf(
  world: CliWorld,
  { args: [name, dir], options: { none } }: CommandInput<typeof INSTANCE_MAP>,
): Result<string | null> {
  if ((dir === undefined) !== none)
    return failed('invalid_args', 'Pass either a folder or --none.', {}, [
      { action: 'Map it to this folder.', command: `hawser instance map ${name} .` },
      { action: 'Leave it without a workspace.', command: `hawser instance map ${name} --none` },
    ])
  if (dir === undefined) return ok(null)
  return dir === OWN ? ok(dir) : wholePath(world, dir)
}
