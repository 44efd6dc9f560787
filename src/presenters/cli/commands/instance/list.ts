import * as z from 'zod'
import { InstanceInfoShape } from '../../../../tether/tether-shapes.ts'
import type { InstanceInfo } from '../../../../tether/tether.ts'
import { terminalText, type Line } from '../../text/cell-width.ts'
import { cell, inColumns } from '../../text/columns.ts'
import { answer, wantsColour } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { INSTANCE_LIST } from '../../definitions/instances.ts'
import type { CliWorld } from '../../world/world.ts'
import { spentWords } from './instance-words.ts'
import { instancesOf } from './instances-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  instances: z.array(InstanceInfoShape).describe('In the order in which they were created.'),
})

/** Lists all Instances. None is not an error. */
export const run: Run<typeof INSTANCE_LIST> = async (world) => {
  const tether = instancesOf(world)
  const listed = await tether.list()
  if (!listed.ok) return listed
  const instances = listed.value
  return answer(world, { instances }, () => words(world, instances))
}

const NONE = 'No Instances yet. To create one: hawser instance create reviewer --workspace .\n'

function words(world: CliWorld, instances: readonly InstanceInfo[]): string {
  if (instances.length === 0) return NONE
  const colour = wantsColour(world, world.streams.stdout)
  const header = ['Instance', 'State', 'Waiting', 'Spent', 'Workspace'].map((text) =>
    cell(text, { dim: true }),
  )
  return terminalText(inColumns([header, ...instances.map(cellsOf)], ALIGN), colour)
}

const ALIGN = ['left', 'left', 'right', 'right', 'left'] as const

function cellsOf(info: InstanceInfo): Line[] {
  const { handle, state, enabled, waiting, workspace = '-', reason } = info
  const marks = [...(enabled ? [] : ['disabled']), ...(reason === undefined ? [] : ['failed'])]
  return [
    cell(handle),
    cell([state, ...marks].join(', ')),
    cell(String(waiting)),
    cell(spentWords(info)),
    cell(workspace),
  ]
}
