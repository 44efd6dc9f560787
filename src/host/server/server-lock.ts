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
const ServerRecord = z.object({
  pid: z.int().positive(),
  version: printable,
  since: printable,
  /** Such as `http://127.0.0.1:4600`. */
  origin: printable,
  /** Absent if it listens on the port only. */
  socket: printable.optional(),
})

/** The local server of a home, for people and for clients that look for it. Informative only: the lock decides. */
export type ServerRecord = Readonly<z.infer<typeof ServerRecord>>

/** 256 bits; only who can read the file of the lock knows them. They differ for each process that runs the server. */
const Control = z.string().regex(/^[\w-]{43}$/)
const Announced = ServerRecord.extend({ control: Control })

/** A server that can be asked: `control` proves to it that the asker read its own record, not that of another process. */
export interface AnnouncedServer {
  readonly record: ServerRecord
  readonly control: string
}

/** The exclusive right to run the local server of a home. Ends with `release` and with the process. */
export interface ServerLock {
  /** Publishes where the server listens, and what it obeys. */
  announce(announced: AnnouncedServer): Promise<Result<void>>
  release(): Promise<void>
}

/** `starting` has not announced itself yet. */
export type ServerStatus = ServerRecord | 'starting' | undefined

/** A look at the lock holds it for a moment; only a server holds it longer. */
const TRIES = 20
const RETRY_MS = 10

/** Takes the lock of a home; `invalid_args` if its server runs already, in any process. */
export async function takeServerLock(home: Folder, clock: Clock): Promise<Result<ServerLock>> {
  return asResult('lock the local server', async () => {
    const file = await home.open(NAME, 'lease')
    try {
      for (let tries = 1; !(await file.tryLock()); tries++) {
        if (tries === TRIES) {
          const running = alreadyRunning((await announcedIn(file))?.record)
          await file.close()
          return running
        }
        await wait(clock, RETRY_MS)
      }
      await file.truncate(0)
      return ok({
        announce: ({ record, control }) =>
          asResult('announce the local server', async () => {
            await file.truncate(0)
            await writeAll(file, Buffer.from(`${JSON.stringify({ ...record, control })}\n`))
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
export async function serverStatus(home: Folder): Promise<Result<ServerStatus>> {
  const found = await announcedServer(home)
  if (!found.ok) return found
  return ok(typeof found.value === 'object' ? found.value.record : found.value)
}

/** The same, with what is needed to ask it. Not to be shown. */
export async function announcedServer(
  home: Folder,
): Promise<Result<AnnouncedServer | 'starting' | undefined>> {
  return asResult('look for the local server', async () => {
    const file = await ifThere(home.open(NAME, 'append'))
    if (file === undefined) return ok(undefined)
    return closing(file, async () => {
      if (await file.tryLock()) return ok(undefined)
      return ok((await announcedIn(file)) ?? 'starting')
    })
  })
}

async function announcedIn(file: File): Promise<AnnouncedServer | undefined> {
  const { data } = Announced.safeParse(jsonOf(await readSpan(file, 0, MOST_BYTES)))
  if (data === undefined) return undefined
  const { control, ...record } = data
  return { record, control }
}

function alreadyRunning(record: ServerRecord | undefined): Failed {
  const where = record === undefined ? '' : `: ${record.origin} (pid ${record.pid})`
  const message = `The local server is already running${where}.`
  return failed('invalid_args', message, record === undefined ? {} : { ...record }, [
    { action: 'Show its state.', command: 'hawser status' },
    { action: 'Stop it.', command: 'hawser down' },
  ])
}
