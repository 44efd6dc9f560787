import { chmod, lstat, unlink } from 'node:fs/promises'
import type { Server } from 'node:http'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { asFileFailure, asHostResult, isMissing } from '../files/files.ts'

/** `sun_path` has 108 bytes with its terminator. Some versions of Node bind a truncated path instead of failing. */
const LONGEST_PATH = 107

/**
 * Starts to listen on a socket at `path`, which only our user may connect to. Its folder must be private: a user who can write
 * there could replace the socket. A socket left by a killed process is replaced, so the caller must hold the lock of the
 * folder; anything else at that path is `storage_failed`. `invalid_args` if the path is too long for the system.
 */
export async function listenOnSocket(server: Server, path: string): Promise<Result<void>> {
  const bytes = Buffer.byteLength(path)
  if (bytes > LONGEST_PATH) return socketTooLong(path, bytes)
  return asHostResult(`listen on ${path}`, async () => {
    const removed = await removeLeftover(path)
    if (!removed.ok) return removed
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, () => {
        server.off('error', reject)
        // Later errors, such as running out of descriptors, are temporary.
        server.on('error', () => {})
        resolve()
      })
    })
    await chmod(path, 0o600)
    return ok(undefined)
  })
}

async function removeLeftover(path: string): Promise<Result<void>> {
  const facts = await asFileFailure(lstat(path)).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (facts === undefined) return ok(undefined)
  if (!facts.isSocket()) {
    return failed('storage_failed', `${path} exists and is not a socket.`, { path }, [
      { action: 'Move it away and try again.' },
    ])
  }
  await unlink(path)
  return ok(undefined)
}

function socketTooLong(path: string, bytes: number): Failed {
  const message = `The socket path has ${bytes} bytes; the system allows ${LONGEST_PATH}: ${path}`
  return failed('invalid_args', message, { bytes, limit: LONGEST_PATH }, [
    { action: 'Set HAWSER_HOME to a shorter path.' },
  ])
}
