import { join } from 'node:path'
import type { Result } from '../../model/errors.ts'
import { asResult, type Folder } from '../files/files.ts'
import { startDetached } from '../process/detached.ts'

export interface ServerStart {
  /** `$HAWSER_HOME`, open. */
  readonly home: Folder
  readonly env: Readonly<Record<string, string | undefined>>
  readonly port?: number | undefined
}

/**
 * Starts the local server of a home as a process of its own, which continues after this one. Resolves to the first line that it
 * prints: JSON that says where it listens, or why it could not start. What it prints on standard error is in the logs.
 */
export async function startServer({ home, env, port }: ServerStart): Promise<Result<string>> {
  return asResult('open the logs', async () => {
    const logs = await home.folder('logs', 'create')
    await logs.close()
    const args = ['up', '--json', ...(port === undefined ? [] : ['--port', String(port)])]
    const errors = join(logs.label, 'server.err')
    return startDetached({ args, env, folder: home.label, errors })
  })
}
