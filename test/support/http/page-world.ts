import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { ok } from '../../../src/model/errors.ts'
import type { CliWorld } from '../../../src/presenters/cli/world/world.ts'

/** What `up --open` uses to open the page: `<root>/home`, the current folder, and a browser of the test. */
export function pageWorld(root: string, folder: string, browser: CliWorld['browser']) {
  const home = join(root, 'home')
  const opening: CliWorld['openHome'] = async () => {
    const opened = await openHome(home)
    if (!opened.ok) return opened
    const { value } = opened
    return ok({ folder: value.own, ids: systemIds(systemClock), close: () => value.close() })
  }
  return { home, cwd: () => folder, openHome: opening, browser }
}
