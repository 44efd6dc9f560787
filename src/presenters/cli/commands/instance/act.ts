import * as z from 'zod'
import { ok } from '../../../../model/errors.ts'
import type { InstanceAct } from '../../../../tether/tether.ts'
import { withProgress } from '../../render/progress.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { CliWorld } from '../../world/world.ts'
import { InstanceOutput, stateWords } from './instance-words.ts'
import { aboutInstance, inInstances } from './instances-place.ts'

const ActArgs = z.object({
  args: z.tuple([z.string()]),
  options: z.object({ json: z.boolean().default(false) }),
})

export const Output = InstanceOutput

/** Starts, pauses, resumes, stops, enables or disables an Instance, and shows its state then. */
export function runWith(act: InstanceAct): Run {
  return async (world: CliWorld, commandInput: CommandInput) => {
    const {
      args: [name],
      options: { json },
    } = ActArgs.parse(commandInput)
    return inInstances(world, json, async (tether) => {
      const done = await withProgress(world, PROGRESS[act], () =>
        aboutInstance(tether, name, tether.act(name, act)),
      )
      if (!done.ok) return done
      return ok(answer(world, json, { instance: done.value }, () => stateWords(done.value)))
    })
  }
}

const PROGRESS: Readonly<Record<InstanceAct, string>> = {
  start: 'Starting the Instance',
  pause: 'Pausing the Instance',
  resume: 'Resuming the Instance',
  stop: 'Stopping the Instance',
  enable: 'Enabling the Instance',
  disable: 'Disabling the Instance',
}
