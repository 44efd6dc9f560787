import process from 'node:process'
import { systemClock } from '../../../src/host/clock.ts'
import { identifyFolder } from '../../../src/host/files/folder-identity.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { openWorkspace } from '../../../src/host/workspace.ts'
import { workspaceRegister } from '../../../src/host/workspace-register.ts'
import * as runs from './nested-runs.ts'

/**
 * A child process that attacks nested `.hawser` folders as its user, in the given folder, and prints a result for each part.
 * With `open` and a path it is another Hawser: it opens that folder as a workspace and ends.
 */
const [, self = '', root = '', order, path = ''] = process.argv
await (order === 'open' ? openAsWorkspace() : attack())

async function attack(): Promise<void> {
  const all = {
    existing: await runs.attackExisting(root, 'ours'),
    links: await runs.refuseLinks(root),
    during: await runs.plantDuring(root, 'ours'),
    others: await runs.openDuring(root, self),
    after: await runs.findAfter(root, self),
    tools: await runs.attackByTools(root),
    limit: await runs.beyondTheLimit(root, self),
    moved: await runs.moveBeyondHeld(root),
    naiveExisting: await runs.attackExisting(root, 'naive'),
    naiveDuring: await runs.plantDuring(root, 'naive'),
  }
  const parts = Object.entries(all).map(([part, { tried, wrong }]) => [part, { tried, wrong }])
  console.log(
    JSON.stringify({ ...Object.fromEntries(parts), naive: await runs.naiveOperations(root) }),
  )
}

async function openAsWorkspace(): Promise<void> {
  const ids = systemIds(systemClock)
  const home = await openHome(root)
  if (!home.ok) throw new Error(home.error.message)
  const folder = await identifyFolder(path)
  if (!folder.ok) throw new Error(folder.error.message)
  await workspaceRegister(home.value.own, ids).add(folder.value)
  const opened = await openWorkspace(path, ids)
  if (!opened.ok) throw new Error(opened.error.message)
  await opened.value.close()
  await home.value.close()
}
