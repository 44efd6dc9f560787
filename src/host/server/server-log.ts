import type { Clock } from '../clock.ts'
import { timestamp } from '../clock.ts'
import { ifPossible, ifThere, writeAll, type File, type Folder } from '../files/files.ts'

/** The log of the local server: JSON Lines in `$HAWSER_HOME/logs/server.ndjson`. */
export interface ServerLog {
  /** Adds a line. Never throws and never waits: lines are lost if the disk fails or cannot keep up. */
  write(entry: Readonly<Record<string, unknown>>): void
  /** Writes what is queued, then closes. Later lines are lost. */
  close(): Promise<void>
}

const NAME = 'server.ndjson'
/** At this size a new file is begun; one old file is kept. */
const MOST_BYTES = 10 * 1024 * 1024
const OLD = 'server.old.ndjson'
const MOST_QUEUED = 1000

/** `redact` removes keys from every line. Throws a `FileFailure` if the log cannot be opened. */
export async function serverLog(
  home: Folder,
  clock: Pick<Clock, 'now'>,
  redact: (line: string) => string,
  mostBytes = MOST_BYTES,
): Promise<ServerLog> {
  const folder = await home.folder('logs', 'create')
  let file: File | undefined = await folder.open(NAME, 'lease')
  let { size } = await file.stat()
  let queue: string[] = []
  let writing: Promise<void> | undefined
  let isClosed = false
  const flush = async () => {
    while (queue.length > 0) {
      const bytes = Buffer.from(queue.join(''))
      queue = []
      if (size > 0 && size + bytes.length > mostBytes) {
        await file?.close()
        file = undefined
        await ifThere(folder.rename(NAME, OLD))
        size = 0
      }
      file ??= await folder.open(NAME, 'lease')
      await writeAll(file, bytes)
      size += bytes.length
    }
  }
  const flushAll = () => {
    writing ??= ifPossible(flush()).finally(() => {
      writing = undefined
      if (queue.length > 0) flushAll()
    })
  }
  const settled = async (): Promise<void> => {
    if (writing === undefined) return
    await writing
    await settled()
  }
  return {
    write: (entry) => {
      if (isClosed || queue.length >= MOST_QUEUED) return
      queue.push(redact(`${JSON.stringify({ ts: timestamp(clock), ...entry })}\n`))
      flushAll()
    },
    close: async () => {
      isClosed = true
      await settled()
      if (file !== undefined) await ifPossible(file.close())
      await folder.close()
    },
  }
}
