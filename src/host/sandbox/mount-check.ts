import { lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import { liesIn, shownPath } from '../files/confined-path.ts'
import type { FolderPlace } from '../files/disk.ts'
import { identifyFolder, idsBelow } from '../files/folder-identity.ts'
import { idOf } from '../files/walked-folder.ts'
import { listKin } from '../process/kin.ts'
import type { Mount } from './bubblewrap/args.ts'
import { isHawserPath } from './watch/hawser-folders.ts'

/** What must be mounted at a path of the sandbox. */
export interface MountedId {
  readonly at: string
  /** Device and inode. `undefined` if a link is there now: nothing is right then. */
  readonly id: string | undefined
}

/**
 * What the mounts of a sandbox must show, for every source in a folder that programs can write to. Bubblewrap gets paths, and
 * another command may swap what they lead to before they are mounted, so `checkMounts` compares afterwards.
 */
export async function expectedMounts(
  mounts: readonly Mount[],
  workspace: FolderIdentity,
  others: readonly FolderPlace[],
): Promise<Result<readonly MountedId[]>> {
  const anchors = [workspace]
  for (const place of others) {
    const found = typeof place === 'string' ? await identifyFolder(place) : ok(place)
    if (!found.ok) return found
    anchors.push(found.value)
  }
  const bound = mounts.flatMap((mount): Mount[] => {
    const { as, at } = mount
    if (as === 'readable' || as === 'writable') return [mount]
    // A covered folder shows nothing of its source, but lies in the right one.
    return as === 'private_folder' && isHawserPath(at) ? [{ at: dirname(at), as: 'writable' }] : []
  })
  return ok(anchors.flatMap((anchor) => expectedIn(bound, anchor)))
}

function expectedIn(mounts: readonly Mount[], anchor: FolderIdentity): MountedId[] {
  const inside = mounts.filter(({ at, from = at }) => liesIn(from, anchor.path))
  const ids = idsBelow(
    anchor,
    inside.map(({ at, from = at }) => from.slice(anchor.path.length).split('/').filter(Boolean)),
  )
  return inside.map(({ at }, index) => ({ at, id: ids[index] }))
}

/** A check between the mounting and the start of the program. */
export interface MountCheck {
  /** Whether the program may start in the sandbox that this process leads. Never throws. */
  admit(leader: number): boolean
  /** Why the last `admit` refused. */
  refusal(): Failed | undefined
  /** Resolves with the first `admit`. */
  readonly firstAdmission: Promise<boolean>
}

/** Compares what is mounted with what was expected, while the first process of the sandbox waits. */
export function checkMounts(expected: readonly MountedId[]): MountCheck {
  let refusal: Failed | undefined
  let settle: ((isAdmitted: boolean) => void) | undefined
  const firstAdmission = new Promise<boolean>((resolve) => {
    settle = resolve
  })
  return {
    admit: (leader) => {
      refusal = wrongMount(innermost(leader), expected)
      settle?.(refusal === undefined)
      return refusal === undefined
    },
    refusal: () => refusal,
    firstAdmission,
  }
}

function wrongMount(inner: number, expected: readonly MountedId[]): Failed | undefined {
  for (const { at, id } of expected) {
    const mounted = idAt(`/proc/${inner}/root${at}`)
    if (typeof mounted === 'object') return uncheckedMounts(mounted.code)
    if (mounted === undefined || mounted !== id) return swappedMount(at)
  }
  return undefined
}

function idAt(path: string): string | undefined | { readonly code: string } {
  try {
    const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return facts === undefined ? undefined : idOf(facts)
  } catch (error) {
    return { code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown' }
  }
}

/** The process that waits at the gate: each wrapper has one child, and this one has none. */
export function innermost(leader: number): number {
  let inner = leader
  for (;;) {
    const [child] = childrenOf(inner)
    if (child === undefined) return inner
    inner = child
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').filter(Boolean).map(Number)
  } catch {
    // A kernel without this file.
    return listKin(pid).flatMap((one) => (one.parent === pid ? [one.pid] : []))
  }
}

function swappedMount(at: string): Failed {
  const message = `${shownPath(at)} was replaced while the sandbox was set up. Nothing was run.`
  return failed('outside_workspace', message, {}, [
    { action: 'Find out which program replaces it, and try again.' },
  ])
}

function uncheckedMounts(code: string): Failed {
  const why = `its mounts cannot be checked (${code})`
  return failed('sandbox_unavailable', `The sandbox is unavailable: ${why}.`, { why })
}
