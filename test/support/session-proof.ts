import { asFilePlace } from './log/file-place.ts'
import { mkdtemp } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { workspaceBlobStore } from '../../src/blobs/workspace-store.ts'
import { diskFolder } from '../../src/host/files/disk.ts'
import { failed, ok, type Result } from '../../src/model/errors.ts'
import { SessionId } from '../../src/model/ids.ts'
import { Harness } from '../../src/session/harness.ts'
import type { Proof } from '../../src/session/queries/verify.ts'
import type { SessionParts } from '../../src/session/live/session-parts.ts'
import type { RequestsVerdict } from '../../src/session/queries/verify-requests.ts'
import { registeredIn, type Damage } from './log/registered-damage.ts'
import { DIALECT_NAMES, DIALECTS } from './providers/dialects.ts'
import { headsBelow, logsBelow } from './files-below.ts'
import { openParts, withChanges } from './session/harness-parts.ts'

/** The results of proving the Sessions of a run. */
export interface Tally {
  /** Intact Logs whose requests all follow from the Events before them. */
  sessions: number
  requests: number
  /** Requests with prompt texts of another version. */
  not_comparable: number
  /** Logs whose creation was interrupted: there is no Session. */
  unbegun: number
  /** Logs below a registered folder whose only faults are effects of the registered damage. */
  damaged_on_purpose: number
  /** Requests of these Logs that were composed again as recorded. */
  requests_of_damaged: number
  /** All other faults, one line per Log. */
  readonly wrong: string[]
}

/**
 * Proves the Logs below `root` as `hawser log verify --requests` does, without writing to their folders. Processes that
 * divide the work pass their number as `part` and their count as `of`.
 */
export async function proveSessions(root: string, part = 0, of = 1): Promise<Tally> {
  const [logs, heads, registered] = await Promise.all([
    logsBelow(root),
    headsBelow(root),
    registeredIn(root),
  ])
  const { parts, close } = await openParts(await mkdtemp(join(root, 'proof-')))
  const tally: Tally = { ...NOTHING, wrong: [] }
  for (const log of logs.filter((_, at) => at % of === part)) {
    const proof = await proofOf(log, nearest(log, heads), parts)
    const faults = faultsOf(proof)
    const damages = registered.filter(({ folder }) => log.startsWith(folder + sep))
    const others = faults.filter(
      ({ excuses }) => !damages.some(({ damage }) => excuses.includes(damage)),
    )
    const { requests, not_comparable, mismatches } = (proof.ok && proof.value.requests) || UNCHECKED
    if (!proof.ok && proof.error.kind === 'not_found') tally.unbegun += 1
    else if (others.length > 0) {
      tally.wrong.push(`${log}: ${others.map(({ words }) => words).join('; ')}`)
    } else if (faults.length > 0) {
      tally.damaged_on_purpose += 1
      tally.requests_of_damaged += requests - new Set(mismatches.map(({ seq }) => seq)).size
    } else {
      tally.sessions += 1
      tally.requests += requests
      tally.not_comparable += not_comparable
    }
  }
  await close()
  return tally
}

const NOTHING = {
  sessions: 0,
  requests: 0,
  not_comparable: 0,
  unbegun: 0,
  damaged_on_purpose: 0,
  requests_of_damaged: 0,
}

const UNCHECKED: RequestsVerdict = { requests: 0, not_comparable: 0, mismatches: [] }

/** The nearest head of the Log's Session: tests copy workspaces together with homes, so there may be several. */
function nearest(log: string, heads: readonly string[]): string | undefined {
  const session = basename(log, '.ndjson')
  const shared = (path: string) => {
    const [a, b] = [log.split(sep), path.split(sep)]
    const differs = a.findIndex((name, at) => name !== b[at])
    return differs === -1 ? a.length : differs
  }
  return heads
    .filter((path) => basename(path) === session)
    .toSorted((a, b) => shared(b) - shared(a))[0]
}

async function proofOf(
  log: string,
  head: string | undefined,
  parts: SessionParts,
): Promise<Result<Proof>> {
  const id = SessionId.safeParse(basename(log, '.ndjson'))
  if (!id.success) return failed('invalid_args', 'The name of the Log is not a Session id.')
  const sessions = await diskFolder(dirname(log))
  const { place } = parts.log
  // A missing folder is replaced by an empty one, because nothing may be created beside the Log.
  const none = join(parts.workspace.home, 'heads')
  const blobs = await diskFolder(join(dirname(dirname(log)), 'blobs')).catch(() => diskFolder(none))
  const heads = await diskFolder(head === undefined ? none : dirname(head))
  const store = workspaceBlobStore({ folder: blobs, ids: place.ids, clock: place.clock })
  const harness = new Harness(
    withChanges(parts, {
      log: { place: asFilePlace(place).with({ sessions, heads }), store },
      model: { dialectOf },
    }),
  )
  try {
    return await harness.verify(id.data, { requests: true })
  } finally {
    await Promise.all([sessions.close(), blobs.close(), heads.close()])
  }
}

const dialectOf: SessionParts['model']['dialectOf'] = async (name) => {
  const known = DIALECT_NAMES.find((dialect) => dialect === name)
  if (known === undefined) return failed('not_found', `There is no dialect ${name}.`)
  return ok(DIALECTS[known])
}

/** A fault, and the kinds of registered damage that explain it. */
interface Wrong {
  readonly excuses: readonly Damage[]
  readonly words: string
}

function faultsOf(proof: Result<Proof>): Wrong[] {
  if (!proof.ok) {
    const { kind, message } = proof.error
    const excuses: Wrong['excuses'] = kind === 'resource_missing' ? ['blobs', 'events'] : ['events']
    return [{ excuses, words: `${kind}: ${message}` }]
  }
  const { log, requests } = proof.value
  const damage = log.damage && `damaged: ${JSON.stringify(log.damage.details)}`
  return [
    ...(damage === undefined ? [] : [{ excuses: ['log'], words: damage } as const]),
    ...(requests === undefined
      ? [{ excuses: ['blobs', 'events'], words: 'no request checked' } as const]
      : []),
    ...(requests?.mismatches ?? []).map(({ seq, what, recorded, recomposed }): Wrong => ({
      excuses: what === 'payload' ? ['blobs', 'events'] : ['events'],
      words: `Event ${seq}: ${what} ${JSON.stringify(recorded)} recorded, ${JSON.stringify(recomposed)} composed`,
    })),
  ]
}
