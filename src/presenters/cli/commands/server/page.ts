import { join } from 'node:path'
import * as z from 'zod'
import { askServer } from '../../../../host/server/ask-server.ts'
import { announcedServer, type ServerRecord } from '../../../../host/server/server-lock.ts'
import { asResult, closing, ifPossible, replaceFile } from '../../../../host/files/files.ts'
import { parseJson } from '../../../../encoding/json.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { workspaceOf } from '../../world/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

export const PageOutput = z.object({
  page_url: z
    .url()
    .optional()
    .describe('With --open: a link to its page that works once, within 60 seconds.'),
  opened: z.boolean().optional().describe('With --open: whether a browser was started.'),
})
export type PageOutput = z.infer<typeof PageOutput>

type PageWorld = Pick<CliWorld, 'openHome' | 'browser' | 'cwd' | 'home'>

/** The page of the server that runs already, opened; `undefined` if none runs. */
export async function runningPage(
  world: PageWorld,
): Promise<Result<{ readonly record: ServerRecord; readonly page: PageOutput } | undefined>> {
  const home = await world.openHome()
  if (!home.ok) return home
  const found = await closing(home.value, () => announcedServer(home.value.folder))
  if (!found.ok) return found
  if (found.value === undefined || found.value === 'starting') return ok(undefined)
  const asked = await askServer(found.value, '/control/page')
  if (!asked.ok) return asked
  const code = CodeAnswer.safeParse(parseJson(asked.value)).data?.code
  if (code === undefined) return failed('invalid_response', 'The local server gave no code.')
  const { record } = found.value
  return ok({ record, page: await openPage(world, record.origin, code) })
}

const CodeAnswer = z.object({ code: z.string() })

/**
 * Opens the page in a browser if there is one. The link is passed in a file that only our user can read: other users can see
 * the arguments of a program, and would be faster than the browser.
 */
export async function openPage(
  world: PageWorld,
  origin: string,
  code: string,
): Promise<PageOutput> {
  const workspace = await workspaceOf(world, undefined)
  const folder = workspace.ok ? `&folder=${encodeURIComponent(workspace.value.path)}` : ''
  const page_url = `${origin}/#code=${code}${folder}`
  const home = await world.openHome()
  if (!home.ok) return { page_url, opened: false }
  const { folder: own, ids } = home.value
  const opened = await closing(home.value, async () => {
    const written = await asResult('write the link to the page', async () => {
      await replaceFile(own, FILE, Buffer.from(redirectTo(page_url)), ids.temporary())
      return ok(undefined)
    })
    if (written.ok && (await world.browser(join(own.label, FILE)))) return true
    await ifPossible(own.remove(FILE))
    return false
  })
  return { page_url, opened }
}

/** Stays until the next time; its code is worth nothing then. */
const FILE = 'open.html'

function redirectTo(url: string): string {
  const address = url.replaceAll('&', '&amp;')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>Hawser</title>
<p><a href="${address}">Open Hawser</a></p>
</html>
`
}

export function pageWords(opened: boolean): string {
  return opened
    ? 'Its page opens in a browser. If it does not, this link works once, within 60 seconds:'
    : 'Open its page in a browser with this link, which works once, within 60 seconds:'
}
