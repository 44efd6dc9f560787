import { closeSync, constants, fstatSync, type BigIntStats, type Stats } from 'node:fs'
import { readlink } from 'node:fs/promises'
import type { EntryKind } from '../../model/error-cause.ts'
import { failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import { absent, shownPath } from './confined-path.ts'
import { inGround, relativePath, type Ground, type WalkedPlace } from './confined-walk.ts'
import { openDescriptor, readDescriptor } from './descriptor.ts'
import { hasCode } from './walked-folder.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Bytes read from one descriptor, and its facts before the read. */
export interface ReadFile {
  /** At most `limit` bytes. */
  readonly bytes: Buffer
  /** The file had more than `limit` bytes. */
  readonly truncated: boolean
  readonly facts: BigIntStats
}

/**
 * Opens the entry at a place, checks the descriptor (a regular file with one name, in the workspace) and reads from that
 * same descriptor, at most one byte over `limit`. Never blocks.
 */
export async function readPlace(
  ground: Ground,
  path: string,
  place: WalkedPlace,
  limit: number,
): Promise<Result<ReadFile>> {
  const opened = await openLeaf(ground, path, place)
  if (!opened.ok) return opened
  const fd = opened.value
  try {
    const facts = fstatSync(fd, { bigint: true })
    const kind = kindOf(facts)
    if (kind !== 'file') return notRegular(path, kind)
    if (facts.nlink === 0n) return absent(path)
    if (facts.nlink > 1n) return hardLinked(path)
    const where = { handle: { fd }, path: `${place.folder.path}/${place.name}` }
    const stays = await inGround(ground, path, where)
    if (!stays.ok) return stays
    const bytes = await readUpTo(fd, limit + 1, Number(facts.size))
    const truncated = bytes.length > limit
    return ok({ bytes: truncated ? bytes.subarray(0, limit) : bytes, truncated, facts })
  } finally {
    // Synchronous: nothing was written, so closing does not block.
    closeSync(fd)
  }
}

type KindFacts = Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>

export function kindOf(facts: KindFacts): EntryKind {
  if (facts.isFile()) return 'file'
  if (facts.isDirectory()) return 'folder'
  if (facts.isSymbolicLink()) return 'symlink'
  if (facts.isFIFO()) return 'pipe'
  return facts.isSocket() ? 'socket' : 'device'
}

/** A link at the end of a path is never followed; the error names its target if that is in the workspace. */
export async function linkRefused(
  ground: Ground,
  path: string,
  place: WalkedPlace,
): Promise<Failed> {
  const target = await readlink(place.folder.at(place.name ?? '')).catch(() => '/')
  const here = place.relative.split('/').slice(0, -1).join('/')
  const leads = await relativePath(ground, target.startsWith('/') ? target : `./${here}/${target}`)
  return notRegular(path, 'symlink', leads.ok ? leads.value : undefined)
}

function notRegular(path: string, found: EntryKind, leadsTo?: string): Failed {
  const message = `${shownPath(path)} is ${KIND_WORDS[found]}, not a regular file`
  const refused =
    leadsTo === undefined
      ? failed('not_regular_file', `${message}.`, { found })
      : failed('not_regular_file', `${message}; it points to ${shownPath(leadsTo)}.`, {
          found,
          leads_to: leadsTo,
        })
  return withCause(refused, { type: 'found', entry: found })
}

const KIND_WORDS: Readonly<Record<EntryKind, string>> = {
  file: 'a file',
  folder: 'a folder',
  symlink: 'a symbolic link',
  pipe: 'a named pipe',
  socket: 'a socket',
  device: 'a device',
}

async function openLeaf(ground: Ground, path: string, place: WalkedPlace): Promise<Result<number>> {
  if (place.name === undefined) return notRegular(path, 'folder')
  try {
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    return ok(await openDescriptor(place.folder.at(place.name), flags))
  } catch (error) {
    if (hasCode(error, 'ELOOP')) return linkRefused(ground, path, place)
    if (hasCode(error, 'ENXIO')) return notRegular(path, 'socket')
    if (hasCode(error, 'ENOENT')) return absent(path)
    throw error
  }
}

/** Another name of the same file may be outside the workspace, and a write here would change it there. */
function hardLinked(path: string): Failed {
  const message = `${shownPath(path)} has more than one hard link; another one may be outside the workspace.`
  const next = [{ action: 'Replace it with a copy of itself.' }]
  const refused = failed('permission_denied', message, { reason: 'hard_link' }, next)
  return withCause(refused, { type: 'hard_link' })
}

const PIECE_BYTES = 64 * 1024

/**
 * Expects the reported size, so that a small file needs a small buffer and one call. Does not rely on it: a file may
 * grow, and some report a size of 0.
 */
async function readUpTo(fd: number, most: number, expected: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let got = 0
  let room = expected === 0 ? PIECE_BYTES : Math.min(expected + 1, MOST_PIECE_BYTES)
  while (got < most) {
    const piece = Buffer.allocUnsafe(Math.min(room, most - got))
    const count = await readDescriptor(fd, piece, got)
    if (count === 0) break
    pieces.push(piece.subarray(0, count))
    got += count
    if (got === expected && count < piece.length) break
    room = Math.min(Math.max(room * 2, PIECE_BYTES), MOST_PIECE_BYTES)
  }
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}

const MOST_PIECE_BYTES = 4 * 1024 * 1024
