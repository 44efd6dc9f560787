import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { emit } from '../../support/host/child-report.ts'

/** A child process that swaps folders and files for links and back, as fast as it can, until it is killed or orphaned. */

const Order = z.object({ workspace: z.string(), names: z.array(z.string()) })

const { workspace, names } = Order.parse(JSON.parse(process.argv[2] ?? ''))

const aside = join(workspace, 'aside')
mkdirSync(aside)
let made = 0

function swap(name: string, from: string, to: string): void {
  const path = join(workspace, name)
  renameSync(path, `${path}.${from}`)
  for (let placed = false; !placed;) {
    try {
      renameSync(`${path}.${to}`, path)
      placed = true
    } catch {
      // For a moment the name did not exist, and a write created a folder with it.
      renameSync(path, join(aside, String((made += 1))))
    }
  }
}

const parent = process.ppid
emit({ what: 'ready' })
while (process.ppid === parent) {
  for (const name of names) swap(name, 'own', 'link')
  for (const name of names) swap(name, 'link', 'own')
}
