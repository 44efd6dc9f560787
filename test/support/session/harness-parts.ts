import { filePlace } from '../log/file-place.ts'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceBlobStore } from '../../../src/blobs/workspace-store.ts'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import { openConfined } from '../../../src/host/files/confined-files.ts'
import { openHome } from '../../../src/host/home.ts'
import { thisProcess } from '../../../src/host/process/holder.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { workspaceRules } from '../../../src/host/permission-rules.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { workspaceSnapshots } from '../../../src/host/snapshots/snapshots.ts'
import { openOwnRecords, openWorkspace } from '../../../src/host/workspace.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import { rootPaths } from '../../../src/model/safety/protected-paths.ts'
import { rehearsalProvider } from '../../../src/providers/rehearsal/stream.ts'
import { NO_SKILLS } from '../../../src/skills/catalog.ts'
import { TOOLSET, toolSchemas, toolset } from '../../../src/tools/toolset.ts'
import type { AskedParts } from './asked-harness.ts'
import { makeRecords } from './records.ts'
import { value } from '../log/story.ts'

/** Parts that a test replaces, in any group. */
export type Changes = { readonly [Group in keyof AskedParts]?: Partial<AskedParts[Group]> }

/** Merges the parts of each group; `changes` takes precedence. */
export function withChanges(parts: AskedParts, changes: Changes): AskedParts
export function withChanges(parts: Changes, changes: Changes): Changes
export function withChanges(parts: Changes, changes: Changes): Changes {
  return {
    workspace: { ...parts.workspace, ...changes.workspace },
    log: { ...parts.log, ...changes.log },
    model: { ...parts.model, ...changes.model },
    tools: { ...parts.tools, ...changes.tools },
    person: { ...parts.person, ...changes.person },
  }
}

export function withClock(parts: AskedParts, clock: Clock): AskedParts {
  return withChanges(parts, { log: { place: { ...parts.log.place, clock } } })
}

export interface OpenParts {
  readonly workspace: string
  readonly parts: AskedParts
  readonly close: () => Promise<void>
}

/** Everything that a Session needs, on the real disk below `root`, with the rehearsal model as its provider. */
export function openParts(
  root: string,
  changes: Changes = {},
  instance?: string,
): Promise<OpenParts> {
  return openPartsAt(join(root, 'workspace'), join(root, 'home'), changes, instance)
}

/** With `instance`, Sessions and blobs are the records of that Instance. */
export async function openPartsAt(
  workspace: string,
  home: string,
  changes: Changes = {},
  instance?: string,
): Promise<OpenParts> {
  await mkdir(workspace, { recursive: true })
  const ids = systemIds(systemClock)
  const folders = value(
    instance === undefined
      ? await openWorkspace(workspace, ids)
      : await openOwnRecords(await makeRecords(workspace, instance), ids),
  )
  const homeFolders = value(await openHome(home))
  const files = value(await openConfined(workspace, { refuse: [home, join(workspace, '.hawser')] }))
  const provider = rehearsalProvider({ chunk: 16, delayMs: 0 })
  const parts: AskedParts = {
    workspace: { path: workspace, home },
    log: {
      place: filePlace({
        sessions: folders.sessions,
        heads: homeFolders.heads,
        clock: systemClock,
        ids,
        holder: thisProcess('hawser'),
        schemas: 'of the tests',
      }),
      store: workspaceBlobStore({ folder: folders.blobs, ids, clock: systemClock }),
      secrets: [],
      version: '0.1.0',
    },
    model: {
      factsOf: () => undefined,
      dialectNameOf: (name) => (name === 'rehearsal' ? name : undefined),
      providerOf: async (name) =>
        name === 'rehearsal' ? ok(provider) : failed('not_configured', `There is no ${name}.`),
      dialectOf: async (name) =>
        name === 'rehearsal' ? ok(provider) : failed('not_found', `There is no dialect ${name}.`),
      limits: { provider_calls: 100, retries: 0 },
      chance: () => 0.5,
    },
    tools: {
      toolset: async () => toolset(),
      schemas: toolSchemas(TOOLSET),
      skillSchemas: [],
      skills: NO_SKILLS,
      files,
      sandbox: systemSandbox(),
      snapshots: lazily(() => workspaceSnapshots({ workspace, home, ids })),
      protectedPaths: rootPaths('asks'),
      limits: { command_ms: 60_000 },
      history: () => import('../../../src/session/queries/model-history.ts'),
    },
    person: {
      presenter: 'test',
      rules: workspaceRules({
        home: homeFolders.own,
        workspace,
        ids,
        clock: systemClock,
        holdsKey: () => false,
      }),
      limits: { waiting_turns: 8, question_ms: 120_000 },
    },
  }
  const close = async () => {
    await Promise.all([folders.close(), homeFolders.close(), files.close()])
  }
  return { workspace, parts: withChanges(parts, changes), close }
}

function lazily<T>(make: () => T): () => Promise<T> {
  let made: T | undefined
  return async () => (made ??= make())
}
