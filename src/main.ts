import { join, resolve } from 'node:path'
import type { Ids } from './host/ids.ts'
import type { Streams } from './host/streams.ts'
import type { CliWorld, Opened, OpenedHome, OpenOptions } from './presenters/cli/world.ts'
import type { Result } from './model/errors.ts'
import type { SessionParts } from './session/session-parts.ts'

/** Put here by the build, from package.json. */
declare const HAWSER_VERSION: string | undefined

/** The world as the launcher hands it over. `argv` holds what a person typed after the program's name. */
export interface Invocation {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: () => string
  /** Writes to the standard output: all that `--version` needs. */
  readonly print: (text: string) => void
  /** By default those of this process. */
  readonly streams?: Streams
}

/**
 * Runs one command and resolves to its exit code. Does not end the process.
 * Each command is a dynamic import: a person waits only for the parts their command needs.
 */
export async function main(invocation: Invocation): Promise<number> {
  const { argv, print } = invocation
  const [only, ...more] = argv
  if (more.length === 0 && (only === '--version' || only === '-V')) {
    print(`hawser ${version()}\n`)
    return 0
  }
  if (isTalk(only)) (await import('./host/light-checks.ts')).checkWithoutCompiling()
  const [{ runProgram }, world] = await Promise.all([
    import('./presenters/cli/program.ts'),
    worldOf(invocation),
  ])
  const code = await runProgram(world, argv)
  await Promise.all([world.streams.stdout.flushed(), world.streams.stderr.flushed()])
  return code
}

/** Commands that write a few Events; all others may read a great many. */
function isTalk(command: string | undefined): boolean {
  return command === undefined || command === 'run' || command === 'chat'
}

async function worldOf({ env, cwd, streams }: Invocation): Promise<CliWorld> {
  const [{ systemStreams }, { systemClock }, { homePath }, { optimiseLater }] = await Promise.all([
    import('./host/streams.ts'),
    import('./host/clock.ts'),
    import('./host/home.ts'),
    import('./host/optimiser.ts'),
  ])
  // Not in a process that is somebody else's.
  if (streams === undefined) optimiseLater()
  const home = homePath(env)
  return {
    streams: streams ?? systemStreams(),
    env,
    clock: systemClock,
    version: version(),
    cwd,
    home,
    open: (path, options) => openWorkspaceAt(path, home, options),
    openHome: () => openHomeAt(home),
  }
}

async function openHomeAt(home: string): Promise<Result<OpenedHome>> {
  const [{ openHome }, { systemClock }, { systemIds }, { ok }] = await Promise.all([
    import('./host/home.ts'),
    import('./host/clock.ts'),
    import('./host/ids.ts'),
    import('./model/errors.ts'),
  ])
  const folders = await openHome(home)
  if (!folders.ok) return folders
  const { own } = folders.value
  const close = () => folders.value.close()
  return ok({ folder: own, ids: systemIds(systemClock), close })
}

/** Puts everything together that the Sessions of one workspace work with. */
async function openWorkspaceAt(
  path: string,
  home: string,
  { ask = nobody, make = false }: OpenOptions = {},
): Promise<Result<Opened>> {
  const parts = await loadParts()
  const clock = parts.systemClock
  const ids = parts.systemIds(clock)
  const place = await openPlaces(parts, path, home, { ids, make })
  if (!place.ok) return place
  const { workspace, folders, homeFolders, files, settings, close } = place.value
  const { limits = {} } = settings.settings
  const { LIMITS, ok } = parts
  const sandbox = lazySandbox()
  const harness = new parts.Harness({
    workspace,
    home,
    place: {
      sessions: folders.sessions,
      heads: homeFolders.heads,
      clock,
      ids,
      holder: parts.thisProcess('hawser'),
    },
    store: parts.workspaceBlobStore({ folder: folders.blobs, ids, clock }),
    files,
    sandbox,
    tools: new Map(parts.TOOLSET.map((tool) => [tool.name, tool])),
    toolSchemas: parts.toolSchemas(parts.TOOLSET),
    protectedPaths: parts.PROTECTED_PATHS,
    ...providersOf(parts),
    ask,
    presenter: 'cli',
    version: version(),
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

type Parts = Awaited<ReturnType<typeof loadParts>>

/** Loaded when a workspace is opened, and not before: most of the program. */
async function loadParts() {
  const [store, clock, confined, home, holder, ids, workspace] = await Promise.all([
    import('./blobs/workspace-store.ts'),
    import('./host/clock.ts'),
    import('./host/confined-files.ts'),
    import('./host/home.ts'),
    import('./host/holder.ts'),
    import('./host/ids.ts'),
    import('./host/workspace.ts'),
  ])
  const [errors, limits, policy, rehearsal, harness, settings, tools] = await Promise.all([
    import('./model/errors.ts'),
    import('./model/limits.ts'),
    import('./policy/protected-paths.ts'),
    import('./providers/rehearsal/stream.ts'),
    import('./session/harness.ts'),
    import('./session/settings.ts'),
    import('./tools/toolset.ts'),
  ])
  return {
    ...store,
    ...clock,
    ...confined,
    ...home,
    ...holder,
    ...ids,
    ...workspace,
    ...errors,
    ...limits,
    ...policy,
    ...rehearsal,
    ...harness,
    ...tools,
    loadSettings: settings.loadSettings,
  }
}

/** Opens the folders of a workspace and of its user; whatever fails, what was opened before is closed. */
async function openPlaces(
  parts: Parts,
  path: string,
  home: string,
  { ids, make }: { readonly ids: Ids; readonly make: boolean },
) {
  const { ok } = parts
  const workspace = resolve(path)
  const opened: { close(): Promise<void> }[] = []
  const close = async () => void (await Promise.all(opened.map((one) => one.close())))
  const keep = <T extends { close(): Promise<void> }>(result: Result<T>) => {
    if (result.ok) opened.push(result.value)
    return result
  }
  const all = await (async () => {
    const homeFolders = keep(await parts.openHome(home))
    if (!homeFolders.ok) return homeFolders
    const folders = keep(await parts.openWorkspace(workspace, ids, make ? 'create' : 'open'))
    if (!folders.ok) return folders
    const refuse = [home, join(workspace, '.hawser')]
    const files = keep(await parts.openConfined(workspace, { refuse }))
    if (!files.ok) return files
    const settings = await parts.loadSettings(homeFolders.value.own, folders.value.own)
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
  if (!all.ok) await close()
  return all
}

/** The model backends of this version, by the names people and Events give them. */
function providersOf({ rehearsalProvider, failed, ok }: Parts) {
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

function version(): string {
  return typeof HAWSER_VERSION === 'undefined' ? '0.0.0-source' : HAWSER_VERSION
}
