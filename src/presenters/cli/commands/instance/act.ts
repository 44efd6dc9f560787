import type { InstanceAct } from '../../../../tether/tether.ts'
import type { INSTANCE_ACT_COMMANDS } from '../../definitions/instances.ts'
import { withProgress } from '../../render/progress.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import { InstanceOutput, stateWords } from './instance-words.ts'
import { aboutInstance, instancesOf } from './instances-place.ts'

export const Output = InstanceOutput

/** Starts, pauses, resumes, stops, enables or disables an Instance, and shows its state then. */
export const run: Run<(typeof INSTANCE_ACT_COMMANDS)[number]> = async (
  world,
  { args: [name] },
  { act },
) => {
  const tether = instancesOf(world)
  const done = await withProgress(world, PROGRESS[act], () =>
    aboutInstance(tether, name, tether.act(name, act)),
  )
  if (!done.ok) return done
  return answer(world, { instance: done.value }, () => stateWords(done.value))
}

const PROGRESS: Readonly<Record<InstanceAct, string>> = {
  start: 'Starting the Instance',
  pause: 'Pausing the Instance',
  resume: 'Resuming the Instance',
  stop: 'Stopping the Instance',
  enable: 'Enabling the Instance',
  disable: 'Disabling the Instance',
}
