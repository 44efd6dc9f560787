import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { startChild } from '../support/child.ts'
import { run } from '../support/own-mounts.ts'

export interface FullDiskRun {
  readonly seed: number
  readonly rounds: number
  readonly folder: string
}

export interface FullDisks {
  readonly events: string[]
  readonly blobs: string[]
  acknowledged: number
  kept: number
}

/** A user other than root can mount too, if it can be root of a user namespace. */
const APART = ['unshare', '--mount', ...(process.geteuid?.() === 0 ? [] : ['--map-root-user'])]

export async function runFullDisk({ seed, rounds, folder }: FullDiskRun): Promise<FullDisks> {
  const root = await mkdtemp(join(folder, 'full-'))
  const script = await bundleScript(new URL('full-disk-child.ts', import.meta.url), root)
  const point = await mkdtemp(join(root, 'point-'))
  const child = startChild(script, { point, seed, rounds }, { under: APART })
  const { complaint } = await child.ended
  const sum: FullDisks = { events: [], blobs: [], acknowledged: 0, kept: 0 }
  for (const report of child.reports) {
    if (report.what === 'offence') sum[report.about].push(report.text)
    if (report.what === 'events') sum.acknowledged += report.lines.length
    if (report.what === 'blob') sum.kept += 1
  }
  if (child.reports.at(-1)?.what !== 'done') sum.events.push(`broke off: ${complaint}`)
  await rm(root, { recursive: true })
  return sum
}

export async function whyNoSmallDisk(): Promise<string | undefined> {
  const [command = '', ...args] = APART
  const tried = run(command, [...args, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])
  return tried.then(
    () => undefined,
    () => 'a small disk cannot be mounted: not root, and no user namespaces',
  )
}
