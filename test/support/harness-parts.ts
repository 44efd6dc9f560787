import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceBlobStore } from '../../src/blobs/workspace-store.ts'
import { systemClock } from '../../src/host/clock.ts'
import { openConfined } from '../../src/host/files/confined-files.ts'
import { openHome } from '../../src/host/home.ts'
import { thisProcess } from '../../src/host/process/holder.ts'
import { systemIds } from '../../src/host/ids.ts'
import { workspaceRules } from '../../src/host/permission-rules.ts'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { openWorkspace } from '../../src/host/workspace.ts'
import { failed, ok } from '../../src/model/errors.ts'
import { rootPaths } from '../../src/model/safety/protected-paths.ts'
import { rehearsalProvider } from '../../src/providers/rehearsal/stream.ts'
import type { SessionParts } from '../../src/session/live/session-parts.ts'
import { TOOLSET, toolSchemas } from '../../src/tools/toolset.ts'
import { value } from './story.ts'

export interface OpenParts {
  readonly workspace: string
  readonly parts: SessionParts
  readonly close: () => Promise<void>
}

/** Everything a Session works with, on the real disk below `root`, and the rehearsal model to play the other part. */
export async function openParts(
  root: string,
  changes: Partial<SessionParts> = {},
): Promise<OpenParts> {
  const workspace = join(root, 'workspace')
  const home = join(root, 'home')
  await mkdir(workspace, { recursive: true })
  const ids = systemIds(systemClock)
  const folders = value(await openWorkspace(workspace, ids))
  const homeFolders = value(await openHome(home))
  const files = value(await openConfined(workspace, { refuse: [home, join(workspace, '.hawser')] }))
  const provider = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const parts: SessionParts = {
    workspace,
    home,
    place: {
      sessions: folders.sessions,
      heads: homeFolders.heads,
      clock: systemClock,
      ids,
      holder: thisProcess('hawser'),
    },
    store: workspaceBlobStore({ folder: folders.blobs, ids, clock: systemClock }),
    files,
    sandbox: systemSandbox(),
    tools: new Map(TOOLSET.map((tool) => [tool.name, tool])),
    toolSchemas: toolSchemas(TOOLSET),
    protectedPaths: rootPaths('asks'),
    factsOf: () => undefined,
    dialectNameOf: (name) => name,
    providerOf: async (name) =>
      name === 'rehearsal' ? ok(provider) : failed('not_configured', `There is no ${name}.`),
    dialectOf: async (name) =>
      name === 'rehearsal' ? ok(provider) : failed('not_found', `There is no dialect ${name}.`),
    ask: async () => ({ allowed: false, scope: 'once', by: 'nobody' }),
    rules: workspaceRules({ home: homeFolders.own, workspace, ids, clock: systemClock }),
    presenter: 'test',
    version: '0.1.0',
    limits: { provider_calls: 100, waiting_turns: 8, command_ms: 60_000, retries: 0 },
    chance: () => 0.5,
    secrets: [],
    ...changes,
  }
  const close = async () => {
    await Promise.all([folders.close(), homeFolders.close(), files.close()])
  }
  return { workspace, parts, close }
}
