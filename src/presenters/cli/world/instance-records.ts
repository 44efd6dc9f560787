import { join } from 'node:path'
import { asResult, closing, ifThere } from '../../../host/files/files.ts'
import { recordsPath } from '../../../host/files/records.ts'
import { failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { InstanceId } from '../../../model/ids.ts'
import type { InstanceRecord } from '../../../model/tether/instance.ts'
import { readRegister } from '../../../tether/instances/register-file.ts'
import { mappedPath, ownWorkspace } from '../../../tether/instances/workspace-place.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { CliWorld } from './world.ts'

type Home = Pick<CliWorld, 'home' | 'openHome'>

/** An Instance whose records a person wants to read. */
export interface NamedInstance {
  readonly instance: InstanceId
  /** The workspace that it works in now; absent if it was deleted. */
  readonly workspace?: string
}

/** Finds an Instance by its handle or id. One that was deleted has left its records, and only its id names them. */
export async function namedInstance(world: Home, named: string): Promise<Result<NamedInstance>> {
  if (named === '') return failed('invalid_args', '--instance requires the name of an Instance.')
  const all = await registeredRecords(world)
  if (!all.ok) return all
  const record = all.value.find(({ id, handle }) => id === named || handle === named)
  const id = record?.id ?? InstanceId.safeParse(named).data
  if (id === undefined) return unknownInstance(named)
  if (record === undefined) return ok({ instance: id })
  const path = join(world.home, INSTANCES, id)
  return ok({ instance: id, workspace: mappedPath(record, path) ?? ownWorkspace(path) })
}

/** Where an Instance has its records now; `undefined` if it cannot be looked up. */
export async function recordsOf(world: Home, id: InstanceId): Promise<string | undefined> {
  const found = await namedInstance(world, id)
  if (!found.ok || found.value.workspace === undefined) return undefined
  return recordsPath({ workspace: found.value.workspace, instance: id })
}

/** The handles of Instances, and the ids of those that were deleted or cannot be looked up. */
export async function instanceNames(
  world: Home,
  ids: readonly InstanceId[],
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const all = await registeredRecords(world)
  const records = all.ok ? all.value : []
  return ids.map((id) => records.find((record) => record.id === id)?.handle ?? id)
}

const INSTANCES = 'instances'

/** Read without a server: it may not run, and nothing of it is needed. */
async function registeredRecords(world: Home): Promise<Result<readonly InstanceRecord[]>> {
  const home = await world.openHome()
  if (!home.ok) return home
  return asResult('read the register of Instances', () =>
    closing(home.value, async ({ folder: own }) => {
      const folder = await ifThere(own.folder(INSTANCES, 'open'))
      return folder === undefined ? ok([]) : closing(folder, () => readRegister(folder))
    }),
  )
}

function unknownInstance(name: string): Failed {
  const shown = visibleLine(JSON.stringify(name.slice(0, 100)))
  return failed('not_found', `There is no Instance ${shown}.`, { instance: name.slice(0, 100) }, [
    { action: 'List all Instances.', command: 'hawser instance list' },
  ])
}
