import * as z from 'zod'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { Clock } from '../clock.ts'
import {
  asResult,
  closing,
  ifPossible,
  ifThere,
  readSpan,
  writeAll,
  type File,
  type Folder,
} from '../files/files.ts'
import { jsonOf } from '../files/json-file.ts'
import { wait } from '../wait.ts'

const NAME = 'hawserd.lock'
const MOST_BYTES = 16 * 1024

/** Another program may have written the file: accept only text that cannot control a terminal. */
const printable = z.string().regex(/^[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]{1,4096}$/u)
const DaemonRecord = z.object({
  pid: z.int().positive(),
  version: printable,
  since: printable,
  /** Such as `http://127.0.0.1:4600`. */
  origin: printable,
  /** Absent if it listens on the port only. */
  socket: printable.optional(),
})

/** The local server of a home, for people and for clients that look for it. Informative only: the lock decides. */
export type DaemonRecord = Readonly<z.infer<typeof DaemonRecord>>

/** The exclusive right to run the local server of a home. Ends with `release` and with the process. */
export interface DaemonLock {
  /** Publishes where the server listens. */
  announce(record: DaemonRecord): Promise<Result<void>>
  release(): Promise<void>
}

/** `starting` has not announced itself yet. */
export type DaemonState = DaemonRecord | 'starting' | undefined

/** A look at the lock holds it for a moment; only a server holds it longer. */
const TRIES = 20
const RETRY_MS = 10

/** Takes the lock of a home; `invalid_args` if its server runs already, in any process. */
export async function takeDaemonLock(home: Folder, clock: Clock): Promise<Result<DaemonLock>> {
  return asResult('lock the local server', async () => {
    const file = await home.open(NAME, 'lease')
    try {
      for (let tries = 1; !(await file.tryLock()); tries++) {
        if (tries === TRIES) {
          const running = alreadyRunning(await recordIn(file))
          await file.close()
          return running
        }
        await wait(clock, RETRY_MS)
      }
      await file.truncate(0)
      return ok({
        announce: (record) =>
          asResult('announce the local server', async () => {
            await file.truncate(0)
            await writeAll(file, Buffer.from(`${JSON.stringify(record)}\n`))
            return ok(undefined)
          }),
        release: async () => {
          await ifPossible(file.truncate(0))
          await file.close()
        },
      })
    } catch (error) {
      await ifPossible(file.close())
      throw error
    }
  })
}

/** The server of a home; `undefined` if none runs. Writes nothing. */
export async function runningDaemon(home: Folder): Promise<Result<DaemonState>> {
  return asResult('look for the local server', async () => {
    const file = await ifThere(home.open(NAME, 'append'))
    if (file === undefined) return ok(undefined)
    return closing(file, async () => {
      if (await file.tryLock()) return ok(undefined)
      return ok((await recordIn(file)) ?? 'starting')
    })
  })
}

async function recordIn(file: File): Promise<DaemonRecord | undefined> {
  return DaemonRecord.safeParse(jsonOf(await readSpan(file, 0, MOST_BYTES))).data
}

function alreadyRunning(record: DaemonRecord | undefined): Failed {
  const where = record === undefined ? '' : `: ${record.origin} (pid ${record.pid})`
  const message = `The local server is already running${where}.`
  return failed('invalid_args', message, record === undefined ? {} : { ...record }, [
    { action: 'Show its state.', command: 'hawser status' },
    { action: 'Stop it.', command: 'hawser down' },
  ])
}
