import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createLog } from '../../../src/log/open.ts'
import { sessionStarted, value } from '../../support/log/story.ts'
import { textFold } from '../../support/log/text-fold.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { judge } from '../support/judge.ts'
import { openPlace } from '../support/place.ts'
import { runTraced, type Traced } from '../support/strace.ts'
import { Ledger } from '../../support/host/child-report.ts'

export interface BadSyncRun {
  readonly folder: string
  readonly call: 'fdatasync' | 'fsync'
  /** Which syncs fail, each in a separate run; the first is 1. */
  readonly which: readonly number[]
}

/** Appends of the child, in order; see its script. */
const APPENDS = 30

/**
 * One sync of a writer fails with EIO. Only the Log uses `fdatasync` (once when it is opened, then once for each
 * append); blobs, heads and folders use `fsync`.
 */
export async function runBadSyncs({ folder, call, which }: BadSyncRun): Promise<string[]> {
  const violations: string[] = []
  const root = await mkdtemp(join(folder, 'bad-sync-'))
  const script = await bundleScript(new URL('../log/steps-child.ts', import.meta.url), root)
  for (const n of which) {
    const offences = await failOnce(script, root, call, n)
    violations.push(...offences.map((text) => `${call} ${n}: ${text}`))
  }
  await rm(root, { recursive: true })
  return violations
}

async function failOnce(
  script: string,
  folder: string,
  call: 'fdatasync' | 'fsync',
  n: number,
): Promise<string[]> {
  const root = join(folder, `${call}-${n}`)
  const warmUp = join(folder, `${call}-${n}-practice`)
  await mkdir(root, { mode: 0o700 })
  await mkdir(warmUp, { mode: 0o700 })
  const ledger = new Ledger()
  const storage = await openPlace(root)
  const { place, keep } = storage
  const session = place.ids.session()
  const writer = value(await createLog(place, session, [sessionStarted], { fold: textFold, keep }))
  ledger.note({ what: 'events', session, lines: [[0, writer.cursor.prev ?? '']] })
  await writer.release()
  const order = { root, warmUp, steps: 'one by one', session }
  const inject = `inject=${call}:error=EIO:when=${n}`
  const traced = await runTraced(script, order, [`trace=${call}`, inject])
  for (const report of traced.reports) ledger.note(report)
  const offences = call === 'fdatasync' ? badLogSync(traced, n) : badOtherSync(traced)
  const found = await judge(storage, ledger, { onlyAcknowledged: true })
  await storage.close()
  return [...offences, ...found.events, ...found.blobs]
}

/** From the failed sync on, the writer acknowledges nothing and returns the reason. */
function badLogSync({ reports, done, ending }: Traced, n: number): string[] {
  if (!done) return [`broke off: ${ending.complaint}`]
  const appends = reports.filter(
    (one) => one.what === 'events' || (one.what === 'refused' && one.doing !== 'put'),
  )
  const acknowledged = appends.findIndex(({ what }) => what === 'refused')
  const offences: string[] = []
  if (acknowledged !== Math.max(0, n - 2)) {
    offences.push(`${acknowledged} acknowledged before the first refusal`)
  }
  for (const one of appends.slice(Math.max(0, acknowledged))) {
    if (one.what !== 'refused') offences.push('acknowledged after a failed sync')
    else if (one.kind !== 'storage_failed') offences.push(`refused as ${one.kind}: ${one.message}`)
  }
  const expected = n === 1 ? 1 : APPENDS
  if (appends.length !== expected) offences.push(`${appends.length} answers to ${expected} calls`)
  return offences
}

/** A place whose folders cannot be synced is not opened; a blob whose sync failed is not acknowledged, and the Log continues. */
function badOtherSync({ reports, done, ending }: Traced): string[] {
  if (!done) return [`broke off: ${ending.complaint}`]
  const refused = reports.filter((one) => one.what === 'refused')
  const offences = refused
    .filter(({ doing, kind }) => doing === 'append' || kind !== 'storage_failed')
    .map(({ doing, kind, message }) => `refused to ${doing}: ${kind}: ${message}`)
  if (refused.length > 1) offences.push(`${refused.length} refusals for one failed sync`)
  const acknowledged = reports.filter(({ what }) => what === 'events').length
  const expected = refused.some(({ doing }) => doing === 'open') ? 0 : APPENDS
  if (acknowledged !== expected) offences.push(`${acknowledged} of ${expected} acknowledged`)
  return offences
}
