import * as z from 'zod'
import { parseJson } from '../encoding/json.ts'
import { asResult, readSpan, writeAll, type File } from '../host/files.ts'
import { isRunning, type Holder } from '../host/holder.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import { leaseName, type LogPlace } from './place.ts'

const HolderRecord = z.object({ pid: z.int(), program: z.string(), since: z.string() })

/** The exclusive right to write one Log. Ends with `release`, and with the process whatever becomes of it. */
export interface Lease {
  /** Who held it last and did not release it: a writer that was killed. */
  readonly abandonedBy: Holder | undefined
  release(): Promise<void>
}

/** A holder that has just locked has not written its name yet, and one that lets go has erased it: look again. */
const LOOKS = 20
const LOOK_AGAIN_MS = 5

/**
 * Takes the lease, or says who has it. The lock on the open file decides; what the file says only informs. The file is
 * never unlinked: two takers must never lock two different files of one name.
 */
export async function takeLease(place: LogPlace, session: SessionId): Promise<Result<Lease>> {
  return asResult('lock this Session', async () => {
    const file = await place.sessions.open(leaseName(session), 'lease')
    try {
      for (let looks = 1; !(await file.tryLock()); looks++) {
        const holder = await readHolder(file)
        if (looks === LOOKS || (holder !== undefined && isRunning(holder.pid))) {
          await file.close()
          return busy(session, holder)
        }
        await new Promise<void>((resolve) => void place.clock.after(LOOK_AGAIN_MS, resolve))
      }
      const before = await readHolder(file)
      await file.truncate(0)
      await writeAll(file, Buffer.from(`${JSON.stringify(place.holder)}\n`))
      return ok({ abandonedBy: before, release: () => release(file) })
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
  })
}

async function release(file: File): Promise<void> {
  // Emptied before it is unlocked, so that the next holder knows this one went in peace.
  await file.truncate(0).catch(() => {})
  await file.close()
}

async function readHolder(file: File): Promise<Holder | undefined> {
  const text = (await readSpan(file, 0, 4096)).toString('utf8')
  return HolderRecord.safeParse(parseJson(text)).data
}

function busy(session: SessionId, holder: Holder | undefined): Failed {
  const who = holder === undefined ? 'another process' : `${holder.program} (pid ${holder.pid})`
  return failed(
    'session_busy',
    `This Session is being written by ${who}.`,
    { session_id: session, ...(holder === undefined ? {} : { holder }) },
    [{ action: 'Wait until it has finished, or stop it.' }],
  )
}
