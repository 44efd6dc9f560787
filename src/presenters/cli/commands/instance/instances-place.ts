import { failed, type Failed, type Result } from '../../../../model/errors.ts'
import { nearest } from '../../../../session/settings/nearest.ts'
import type { Tether } from '../../../../tether/tether.ts'
import { homeTether } from '../../world/home-tether.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CliWorld } from '../../world/world.ts'

/** The Instances of this home, through the local server. If it has to be started, standard error says so. */
export function instancesOf(world: CliWorld): Tether {
  return homeTether(world, () => world.streams.stderr.write(STARTED))
}

const STARTED = 'hawser: started the local server in the background (to stop it: hawser down)\n'

/** A result about a named Instance. If none has this name, the failure suggests the closest one. */
export async function aboutInstance<T>(
  tether: Tether,
  name: string,
  asking: Promise<Result<T>>,
): Promise<Result<T>> {
  const result = await asking
  if (result.ok || result.error.kind !== 'not_found') return result
  // The Instance exists, and something else was not found.
  const listed = await tether.list()
  if (!listed.ok || listed.value.some(({ id, handle }) => id === name || handle === name))
    return result
  return unknownInstance(
    name,
    nearest(
      name,
      listed.value.map(({ handle }) => handle),
    ),
  )
}

function unknownInstance(name: string, close: string | undefined): Failed {
  const hint = close === undefined ? '' : ` Did you mean ${close}?`
  const shown = visibleLine(JSON.stringify(name.slice(0, 100)))
  return failed('not_found', `There is no Instance ${shown}.${hint}`, { instance: name }, [
    { action: 'List all Instances.', command: 'hawser instance list' },
  ])
}
