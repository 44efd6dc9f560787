import { parseJson } from '../../encoding/json.ts'
import type { Clock } from '../../host/clock.ts'
import { announcedServer, type ServerRecord } from '../../host/server/server-lock.ts'
import { startServer } from '../../host/server/start-server.ts'
import { knownToken } from '../../host/server/token-file.ts'
import type { Folder } from '../../host/files/files.ts'
import { wait } from '../../host/wait.ts'
import { ErrorBody } from '../../model/error-shape.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'

/** Where the local server of a home listens, and what its requests need. */
export interface ServerPlace {
  readonly origin: string
  /** Absent if it listens on the port only. */
  readonly socket?: string | undefined
  readonly token: string
}

export interface ServerSearch {
  /** `$HAWSER_HOME`, open. */
  readonly home: Folder
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** Starts the server and returns the first line that it prints. Default: this program, detached. */
  readonly start?: typeof startServer
  /** Called when this call has started the server. */
  readonly onStart?: (() => void) | undefined
}

const LOOK_EVERY_MS = 20
const LOOKS = 1_500
const MOST_STARTS = 3

/** The server of a home that runs; `network` if none does. */
export async function runningServer(home: Folder): Promise<Result<ServerPlace>> {
  const found = await announcedServer(home)
  if (!found.ok) return found
  if (found.value === undefined || found.value === 'starting') return notRunning()
  return serverPlace(home, found.value.record)
}

/**
 * The server of a home, started in the background if none runs. Of several callers at the same time, in any process, one
 * starts it: the lock of the server decides, and the others find the one that won.
 */
export async function startedServer(search: ServerSearch): Promise<Result<ServerPlace>> {
  const { home, env, clock, start = startServer, onStart = () => {} } = search
  let starts = 0
  let refused: Failed | undefined
  for (let looks = 0; looks < LOOKS; looks++) {
    const found = await announcedServer(home)
    if (!found.ok) return found
    const state = found.value
    if (state !== undefined && state !== 'starting') return serverPlace(home, state.record)
    if (state === undefined) {
      if (starts === MOST_STARTS) break
      starts += 1
      const line = await start({ home, env })
      if (!line.ok) return notStarted(line)
      // Refused also if another one was faster: it is found now.
      refused = refusalIn(line.value)
      if (refused === undefined) onStart()
    } else await wait(clock, LOOK_EVERY_MS)
  }
  return notStarted(refused ?? failed('timeout', 'It was not ready in time.'))
}

async function serverPlace(home: Folder, record: ServerRecord): Promise<Result<ServerPlace>> {
  const token = await knownToken(home)
  if (!token.ok) return token
  const { origin, socket } = record
  return ok({ origin, socket, token: token.value })
}

function refusalIn(line: string): Failed | undefined {
  const said = ErrorBody.safeParse(parseJson(line)).data
  if (said === undefined) return undefined
  const { kind, message, details, next_actions } = said.error
  return failed(kind, message, details, next_actions)
}

function notStarted({ error }: Failed): Failed {
  const { kind, message, details, next_actions } = error
  return failed(kind, `Cannot start the local server: ${message}`, details, [
    ...next_actions,
    { action: 'Start it in this terminal to see why it fails.', command: 'hawser up' },
  ])
}

function notRunning(): Failed {
  return failed('network', 'The local server is not running.', {}, [
    { action: 'Start it.', command: 'hawser up --background' },
  ])
}
