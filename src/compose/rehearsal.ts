import type * as rehearse from 'hawser-rehearse'
import { lazyDescribe } from './providers.ts'
import { systemClock } from '../host/clock.ts'
import { systemIds } from '../host/ids.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import { catalogue } from '../providers/models/catalogue.ts'
import type { RehearsalOptions, RehearsalServer } from '../session/workspace/rehearsal-server.ts'

/** The package with the server that plays vendors. It is not installed with hawser. */
type Rehearse = typeof rehearse

/** Serves the offline demo model over the vendors' APIs, on this machine only. */
export async function composeRehearsal({
  port = 0,
  cacheRate,
  onRequest = () => {},
}: RehearsalOptions = {}): Promise<Result<RehearsalServer>> {
  const installed = await installedRehearse()
  if (!installed.ok) return installed
  return installed.value.serveRehearsal({
    port,
    cacheRate,
    onRequest,
    describe: lazyDescribe,
    models: catalogue({}),
    clock: systemClock,
    seed: systemIds(systemClock).event(),
  })
}

const NOT_INSTALLED =
  'The offline demo model is served by the package hawser-rehearse, which is not installed. ' +
  'In a clone of Hawser, this makes its archive: npm ci && npm run build && npm pack --workspace rehearse'

/** `load` rejects as Node does if the package, or the file that it exports, does not exist. */
export async function installedRehearse(
  load: () => Promise<Rehearse> = () => import('hawser-rehearse'),
): Promise<Result<Rehearse>> {
  try {
    return ok(await load())
  } catch (error) {
    if (!isMissing(error)) throw error
    return failed('not_configured', NOT_INSTALLED, { package: 'hawser-rehearse' }, [
      {
        action: 'Install the archive where hawser is installed.',
        command: 'npm install PATH/hawser-rehearse-VERSION.tgz',
      },
    ])
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
}
