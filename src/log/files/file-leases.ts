import * as z from 'zod'
import { parseJson } from '../../encoding/json.ts'
import {
  asResult,
  closing,
  FileFailure,
  ifPossible,
  readSpan,
  writeAll,
  type File,
  type Folder,
} from '../../host/files/files.ts'
import { isRunning, type Holder } from '../../host/process/holder.ts'
import { underShortLock } from '../../host/short-lock.ts'
import { wait } from '../../host/wait.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Clock } from '../../host/clock.ts'
import type { Ids } from '../../host/ids.ts'
import type { Lease, LeaseStore } from '../lease-store.ts'
import { leaseName, sessionsNamed } from './names.ts'

/** Another program may have written the file: accept only printable names. */
const shown = z.string().regex(/^[ -~]{0,80}$/)
const HolderRecord = z.object({ pid: z.int().positive(), program: shown, since: shown })

/** What leases in files need. */
export interface FileLeasesParts {
  /** The folder of the Logs. */
  readonly sessions: Folder
  readonly clock: Clock
  readonly ids: Pick<Ids, 'epoch'>
  readonly holder: Holder
}

/** Leases as locks on files beside the Logs. */
export function fileLeases(parts: FileLeasesParts): LeaseStore {
  return {
    take: (session) => takeLease(parts, session),
    writerOf: (session) => writerOf(parts.sessions, session),
    beingWritten: () => sessionsBeingWritten(parts.sessions),
    alone: (work) => underShortLock({ folder: parts.sessions, clock: parts.clock }, work),
  }
}

/** A new holder has not written its name yet, and a releasing one has erased it: try again. */
const LOOKS = 20
const LOOK_AGAIN_MS = 5

/**
 * Takes the lease, or returns an error that names the holder. The lock on the open file decides; its content only informs.
 * The file is never unlinked: two processes must never lock two different files with the same name.
 */
async function takeLease(parts: FileLeasesParts, session: SessionId): Promise<Result<Lease>> {
  return asResult('lock this Session', async () => {
    const file = await parts.sessions.open(leaseName(session), 'lease')
    try {
      for (let looks = 1; !(await file.tryLock()); looks++) {
        const holder = await readHolder(file)
        if (looks === LOOKS || (holder !== undefined && isRunning(holder.pid))) {
          await file.close()
          return busy(session, holder)
        }
        await wait(parts.clock, LOOK_AGAIN_MS)
      }
      const before = await readHolder(file)
      await writeHolder(file, parts.holder)
      return ok(leaseOn(file, parts.ids.epoch(), before))
    } catch (error) {
      await ifPossible(file.close())
      throw error
    }
  })
}

function leaseOn(file: File, epoch: string, before: Holder | undefined): Lease {
  let isReleased = false
  const end = async (left: Holder | undefined) => {
    if (isReleased) return
    isReleased = true
    await clearAndUnlock(file, left)
  }
  return {
    epoch,
    abandonedBy: before,
    // Without its name, the file excludes no other process: it may lock a new one.
    mayHold: () => !isReleased && file.hasName(),
    holds: async () => !isReleased && (await file.stat()).links > 0,
    release: () => end(undefined),
    giveBack: () => end(before),
  }
}

/**
 * The current writer according to the lease file. Takes no lock and writes nothing, so the result is only informative: a
 * holder in another container is not visible.
 */
async function writerOf(sessions: Folder, session: SessionId): Promise<Holder | undefined> {
  try {
    const file = await sessions.open(leaseName(session), 'read')
    const holder = await closing(file, () => readHolder(file))
    return holder !== undefined && isRunning(holder.pid) ? holder : undefined
  } catch (error) {
    if (error instanceof FileFailure) return undefined
    throw error
  }
}

/**
 * The Sessions whose Log a process is writing now, wherever that process runs. Tries each lock for a moment and releases it;
 * writes no name, so a process that wants the lock meanwhile tries again and gets it.
 */
export async function sessionsBeingWritten(sessions: Folder): Promise<readonly SessionId[]> {
  const written: SessionId[] = []
  for (const session of sessionsNamed(await sessions.names(), '.lease')) {
    const file = await sessions.open(leaseName(session), 'append')
    if (!(await closing(file, () => file.tryLock()))) written.push(session)
  }
  return written
}

/** Erased before it is unlocked, so that the next holder knows that this one released it. */
async function clearAndUnlock(file: File, left: Holder | undefined): Promise<void> {
  await ifPossible(writeHolder(file, left))
  await file.close()
}

async function writeHolder(file: File, holder: Holder | undefined): Promise<void> {
  if ((await file.stat()).size > 0) await file.truncate(0)
  if (holder !== undefined) await writeAll(file, Buffer.from(`${JSON.stringify(holder)}\n`))
}

async function readHolder(file: File): Promise<Holder | undefined> {
  const { size } = await file.stat()
  const text = (await readSpan(file, 0, Math.min(size, 4096))).toString('utf8')
  return HolderRecord.safeParse(parseJson(text)).data
}

function busy(session: SessionId, holder: Holder | undefined): Failed {
  const who = holder === undefined ? 'another process' : `${holder.program} (pid ${holder.pid})`
  return failed(
    'session_busy',
    `This Session is in use by ${who}.`,
    { session_id: session, ...(holder === undefined ? {} : { holder }) },
    [{ action: 'Wait until that process has finished, or stop it.' }],
  )
}
