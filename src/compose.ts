import { join, resolve } from 'node:path'
import { workspaceBlobStore } from './blobs/workspace-store.ts'
import { systemClock } from './host/clock.ts'
import { openConfined } from './host/confined-files.ts'
import { thisProcess } from './host/holder.ts'
import { openHome } from './host/home.ts'
import { systemIds, type Ids } from './host/ids.ts'
import { openWorkspace } from './host/workspace.ts'
import { failed, ok, type Result } from './model/errors.ts'
import { LIMITS } from './model/limits.ts'
import { PROTECTED_PATHS } from './policy/protected-paths.ts'
import type { Opened, OpenOptions } from './presenters/cli/world.ts'
import { rehearsalProvider } from './providers/rehearsal/stream.ts'
import { Harness } from './session/harness.ts'
import type { SessionParts } from './session/session-parts.ts'
import { loadSettings } from './session/settings.ts'
import { TOOLSET, toolSchemas } from './tools/toolset.ts'

/** Puts everything together that the Sessions of one workspace work with. */
export async function composeWorkspace(
  path: string,
  home: string,
  { ask = nobody, make = false, version }: OpenOptions & { readonly version: string },
): Promise<Result<Opened>> {
  const clock = systemClock
  const ids = systemIds(clock)
  const opening = openPlaces(path, home, { ids, make })
  // Made while the disk is at work.
  const schemas = toolSchemas(TOOLSET)
  const place = await opening
  if (!place.ok) return place
  const { workspace, folders, homeFolders, files, settings, close } = place.value
  const { limits = {} } = settings.settings
  const sandbox = lazySandbox()
  const harness = new Harness({
    workspace,
    home,
    place: {
      sessions: folders.sessions,
      heads: homeFolders.heads,
      clock,
      ids,
      holder: thisProcess('hawser'),
    },
    store: workspaceBlobStore({ folder: folders.blobs, ids, clock }),
    files,
    sandbox,
    tools: new Map(TOOLSET.map((tool) => [tool.name, tool])),
    toolSchemas: schemas,
    protectedPaths: PROTECTED_PATHS,
    ...providers(),
    ask,
    presenter: 'cli',
    version,
    limits: {
      provider_calls: limits.provider_calls ?? LIMITS.turn_provider_calls,
      waiting_turns: limits.waiting_turns ?? LIMITS.session_waiting_turns,
      command_ms: (limits.command_seconds ?? COMMAND_SECONDS) * 1000,
    },
  })
  const own = { workspace: folders.own, home: homeFolders.own }
  return ok({ harness, settings, folders: own, sandbox, ids, close })
}

const COMMAND_SECONDS = 120

/** Loaded when the first program is to run: most Turns begin by reading. */
function lazySandbox(): SessionParts['sandbox'] {
  let loading: Promise<SessionParts['sandbox']> | undefined
  const load = () =>
    (loading ??= import('./host/sandbox.ts').then(({ systemSandbox }) => systemSandbox()))
  return {
    status: async () => (await load()).status(),
    confined: (confinement) => async (command) => (await load()).confined(confinement)(command),
    unconfined: (confinement) => async (command) => (await load()).unconfined(confinement)(command),
  }
}

/** Opens the folders of a workspace and of its user; whatever fails, what was opened before is closed. */
async function openPlaces(
  path: string,
  home: string,
  { ids, make }: { readonly ids: Ids; readonly make: boolean },
) {
  const workspace = resolve(path)
  const refuse = [home, join(workspace, '.hawser')]
  const homeFolders = await openHome(home)
  // Nothing is made in a workspace for a user who has no home.
  if (!homeFolders.ok) return homeFolders
  const [folders, files] = await Promise.all([
    openWorkspace(workspace, ids, make ? 'create' : 'open'),
    openConfined(workspace, { refuse }),
  ])
  const all = [homeFolders, folders, files]
  const close = async () => {
    await Promise.all(all.flatMap((one) => (one.ok ? [one.value.close()] : [])))
  }
  const opened = await (async () => {
    if (!folders.ok) return folders
    if (!files.ok) return files
    const settings = await loadSettings(homeFolders.value.own, folders.value.own)
    if (!settings.ok) return settings
    return ok({
      workspace,
      folders: folders.value,
      homeFolders: homeFolders.value,
      files: files.value,
      settings: settings.value,
      close,
    })
  })()
  if (!opened.ok) await close()
  return opened
}

/** The model backends of this version, by the names people and Events give them. */
function providers() {
  const rehearsal = rehearsalProvider({ chunk: 24, delayMs: 0 })
  const known = ['rehearsal']
  return {
    providerOf: (name: string) =>
      name === 'rehearsal'
        ? ok(rehearsal)
        : failed(
            'not_configured',
            'This version has no provider of that name.',
            { provider: name, known },
            [
              {
                action: 'Use the offline model.',
                command: 'hawser run --provider rehearsal "Hello"',
              },
            ],
          ),
    dialectOf: (name: string) =>
      name === 'rehearsal'
        ? ok(rehearsal)
        : failed('not_found', 'This version does not know that dialect.', { dialect: name, known }),
  }
}

const nobody: SessionParts['ask'] = async () => ({ allowed: false, scope: 'once', by: 'nobody' })
