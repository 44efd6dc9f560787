import { systemChance } from '../host/wait.ts'
import { isAbsolute, join, resolve } from 'node:path'
import { Redactor } from '../encoding/redaction.ts'
import { sessionEngine } from './engine.ts'
import { composeProviders, type RelayedProvider } from './providers.ts'
import { systemClock } from '../host/clock.ts'
import { openConfined } from '../host/files/confined-files.ts'
import type { Folder } from '../host/files/files.ts'
import { identifyFolder } from '../host/files/folder-identity.ts'
import { thisProcess } from '../host/process/holder.ts'
import { openHome } from '../host/home.ts'
import { systemIds, type Ids } from '../host/ids.ts'
import { workspaceRules } from '../host/permission-rules.ts'
import { openOwnRecords, openRecords, openWorkspace } from '../host/workspace.ts'
import { workspaceRegister } from '../host/workspace-register.ts'
import { hasContents, originOf } from '../host/workspaces/origin.ts'
import type { CommandAhead } from '../host/sandbox/sandbox.ts'
import { ok, type Result } from '../model/errors.ts'
import type { FolderIdentity } from '../model/folder-identity.ts'
import type { SessionId } from '../model/ids.ts'
import type { Replay } from '../model/modes.ts'
import { LIMIT_DEFAULTS, LIMITS } from '../model/limits.ts'
import type { Settings } from '../model/settings.ts'
import { rootPaths } from '../model/safety/protected-paths.ts'
import { secretsOf } from '../session/settings/credentials.ts'
import { pressureSettings } from '../session/settings/pressure-settings.ts'
import { Harness } from '../session/harness.ts'
import type { SessionParts } from '../session/live/session-parts.ts'
import type { SurfaceParts } from '../session/surface/surface-parts.ts'
import { loadSettings } from '../session/settings/settings.ts'
import { workspaceInstructions } from '../session/workspace/instructions.ts'
import type { InstalledSkills } from '../session/workspace/installed-skills.ts'
import type { Scratch } from '../session/workspace/scratch.ts'
import type { OpenOptions, OpenWorkspace } from '../session/workspace/workspace.ts'
import { systemSkills, type SkillParts } from '../skills/catalog.ts'
import { shownSkill } from '../skills/skill-cache.ts'
import type { SkillFrontMatter } from '../skills/skill.ts'
import type { Toolset } from '../tools/tool.ts'

/** Set by the build: the schemas of all tools. Creating them takes a twentieth of the start-up time. */
declare const HAWSER_TOOL_SCHEMAS: Pick<SurfaceParts['tools'], 'schemas' | 'skillSchemas'>

/** Set by the build: see `LogPlace.schemas`. Not set when running from sources, which may change at any time. */
declare const HAWSER_EVENT_SCHEMAS: string | undefined

interface WorkspaceOptions extends OpenOptions {
  /** The name of the presenter that new Sessions record: `cli`, `http`, … */
  readonly presenter: string
  readonly version: string
  readonly env: Env
  readonly contract?: SessionParts['model']['contract']
  /** How long images stay in requests. Default: the person's setting. */
  readonly replay?: Replay
  /** What answers may contain besides text. */
  readonly answers?: SessionParts['person']['answers']
  /** In a guest: the folder of its Sessions and blobs, if it is not the `.hawser` of the workspace. */
  readonly records?: string | undefined
  /** In a guest: the only way to a model. */
  readonly relay?: RelayedProvider | undefined
}

type Env = Readonly<Record<string, string | undefined>>

/** Builds everything that the Sessions of one workspace need. */
export async function composeWorkspace(
  path: string,
  home: string,
  { questionMs, grants, buffers, make = false, folder = '', ...options }: WorkspaceOptions,
): Promise<Result<OpenWorkspace>> {
  const { presenter, version, env, contract, answers, relay, records, instance } = options
  const clock = systemClock
  const ids = systemIds(clock)
  const place = await openPlaces(path, home, {
    ids,
    make,
    records,
    instance,
    identity: options.identity,
  })
  if (!place.ok) return place
  const { workspace, identity, folders, homeFolders, files, settings, adopts, close } = place.value
  const { limits = {}, resources } = settings.settings
  const sandbox = lazySandbox(limits)
  const register = workspaceRegister(homeFolders.own, ids)
  const whereIs = async (session: SessionId) => (await register.workspaceOf(session))?.path
  const secrets = secretsOf(env, settings.settings)
  const redactor = new Redactor(secrets)
  const { models, ...speaking } = composeProviders(env, settings, { clock, relay })
  const engine = sessionEngine(settings.settings.engine)
  const stores = engine.logs({
    sessions: folders.sessions,
    heads: homeFolders.heads,
    clock,
    ids,
    holder: thisProcess('hawser'),
  })
  const forInstances = async () => {
    const { instanceEngine } = await import('./instance-engine.ts')
    const chosen = instanceEngine(settings.settings.engine)
    return { ...chosen, frames: chosen.frames({ home: homeFolders.own, clock, ids }) }
  }
  const harness = new Harness({
    workspace: {
      path: workspace,
      identity,
      folder,
      home,
      whereIs,
      instanceOf: async (session) => (await forInstances()).withSession(folders.own, session),
    },
    log: {
      place: {
        ...stores,
        clock,
        ids,
        schemas: typeof HAWSER_EVENT_SCHEMAS === 'undefined' ? undefined : HAWSER_EVENT_SCHEMAS,
      },
      store: engine.blobs({ folder: folders.blobs, ids, clock }),
      mentions: async () => {
        const { frameMentions } = await import('../tether/instances/frame-mentions.ts')
        const { frames } = await forInstances()
        const own = { home: homeFolders.own, own: folders.own }
        return frameMentions({ ...own, homePath: home, workspace, frames })
      },
      records: async () => {
        const { allRecords, frames } = await forInstances()
        return allRecords({ own: folders.own, frames, clock, ids })
      },
      secrets,
      version,
    },
    model: {
      ...speaking,
      modelsOf: models.rows,
      limits: {
        provider_calls: limits.provider_calls ?? LIMITS.turn_provider_calls,
        retries: limits.retries ?? LIMIT_DEFAULTS.retries,
      },
      chance: systemChance,
      contract,
      effort: settings.settings.effort,
      replay: options.replay ?? resources?.replay,
      summary: settings.settings.compaction?.summary,
      pressure: pressureSettings(settings.settings),
    },
    tools: {
      toolset: lazyToolset(),
      ...(await frozenSchemas()),
      skills: systemSkills({
        ...skillParts({ workspace, home, folder: homeFolders.own, env, version }, secrets),
        identity,
      }),
      files,
      buffers,
      instructions: workspaceInstructions({ workspace, home: homeFolders.own, files, settings }),
      sandbox,
      protectedPaths: rootPaths('asks'),
      readable: settings.settings.sandbox?.readable,
      ofGuest: relay !== undefined,
      limits: { command_ms: (limits.command_seconds ?? LIMIT_DEFAULTS.command_seconds) * 1000 },
      history: () => import('../session/queries/model-history.ts'),
    },
    person: {
      presenter,
      rules: workspaceRules({
        home: homeFolders.own,
        workspace: identity,
        ids,
        clock,
        holdsKey: (rule) => redactor.value(rule) !== rule,
      }),
      grants,
      upload: resources,
      answers,
      limits: {
        waiting_turns: limits.waiting_turns ?? LIMITS.session_waiting_turns,
        question_ms:
          questionMs ?? (limits.question_seconds ?? LIMIT_DEFAULTS.question_seconds) * 1000,
      },
    },
  })
  const own = { workspace: folders.own, home: homeFolders.own }
  const { defaultOf: defaultModel, rows } = models
  const closeAll = async () => {
    await harness.close()
    await close()
  }
  return ok({
    harness,
    settings,
    adopts,
    folders: own,
    sandbox,
    defaultModel,
    models: rows,
    ids,
    close: closeAll,
  })
}

interface SkillsPlace {
  /** Absolute. */
  readonly workspace: string
  /** `$HAWSER_HOME`. */
  readonly home: string
  /** `home`, open. */
  readonly folder: Folder
  readonly env: Env
  readonly version: string
}

function skillParts(
  { workspace, home, folder, env, version }: SkillsPlace,
  secrets: readonly string[],
): SkillParts {
  const { HOME: userHome } = env
  const person = userHome !== undefined && isAbsolute(userHome) ? userHome : undefined
  const ids = systemIds(systemClock)
  return {
    workspace,
    hawserHome: home,
    userHome: person,
    home: folder,
    ids,
    clock: systemClock,
    version,
    redactor: new Redactor(secrets),
  }
}

/** The Skills of a workspace, for a person who manages them. */
export async function composeSkills(place: SkillsPlace): Promise<InstalledSkills> {
  const [{ skillTrust }, { checkSkill }] = await Promise.all([
    import('../skills/skill-trust.ts'),
    import('../skills/check-skill.ts'),
  ])
  const settings = await loadSettings(place.folder, undefined)
  const known = settings.ok ? settings.value.settings : {}
  const parts = skillParts(place, secretsOf(place.env, known))
  const { redactor } = parts
  const trust = skillTrust(parts)
  const shown = <T extends SkillFrontMatter>(checked: Result<T>): Result<T> =>
    checked.ok ? ok(shownSkill(redactor, checked.value)) : redactor.value(checked)
  return {
    list: () => systemSkills(parts).list(),
    ...trust,
    examine: async (name) => shown(await trust.examine(name)),
    check: async (path) => shown(checkSkill(path)),
  }
}

async function frozenSchemas(): Promise<typeof HAWSER_TOOL_SCHEMAS> {
  if (typeof HAWSER_TOOL_SCHEMAS !== 'undefined') return HAWSER_TOOL_SCHEMAS
  const { SKILL_TOOLS, TOOLSET, toolSchemas } = await import('../tools/toolset.ts')
  return { schemas: toolSchemas(TOOLSET), skillSchemas: toolSchemas(SKILL_TOOLS) }
}

/** Loaded when a model calls a tool: the first request contains their schemas only. */
function lazyToolset(): SessionParts['tools']['toolset'] {
  let loading: Promise<Toolset> | undefined
  return () => (loading ??= import('../tools/toolset.ts').then(({ toolset }) => toolset()))
}

/** Temporary workspaces and a home for throwaway Sessions, in a folder that is deleted on close. */
export async function composeScratch(
  as: Pick<WorkspaceOptions, 'presenter' | 'version'>,
): Promise<Result<Scratch>> {
  const [{ scratchFolder }, { earlyWorkspace }] = await Promise.all([
    import('../host/files/scratch-folder.ts'),
    import('../prompt/early-workspace.ts'),
  ])
  const folder = await scratchFolder()
  if (!folder.ok) return folder
  const { path, write, remove } = folder.value
  return ok({
    make: async (name, files) => {
      for (const file of files) {
        const written = await write(join(name, file.path), file.text)
        if (!written.ok) return written
      }
      return ok(undefined)
    },
    open: (name, { env, early }) => {
      const workspace = join(path, name)
      const contract = early ? earlyWorkspace(workspace) : undefined
      return composeWorkspace(workspace, join(path, 'home'), { ...as, make: true, env, contract })
    },
    close: remove,
  })
}

/** Loaded when the first command runs: most Turns start by reading. */
function lazySandbox(limits: NonNullable<Settings['limits']>): SessionParts['tools']['sandbox'] {
  let loading: Promise<SessionParts['tools']['sandbox']> | undefined
  const load = () =>
    (loading ??= import('../host/sandbox/sandbox.ts').then(({ systemSandbox, commandLimits }) =>
      systemSandbox({ limits: commandLimits(limits) }),
    ))
  return {
    status: async () => (await load()).status(),
    confines: async () => (await load()).confines(),
    runConfined: (confinement) => async (command) =>
      (await load()).runConfined(confinement)(command),
    runUnconfined: (confinement) => async (command) =>
      (await load()).runUnconfined(confinement)(command),
    start: async (confinement, program) => (await load()).start(confinement, program),
    prepare: (confinement, command) => {
      let ahead: CommandAhead | undefined
      const preparing = load().then((sandbox) => {
        ahead = sandbox.prepare?.(confinement, command)
      })
      preparing.catch(() => {})
      return {
        waits: async () => {
          await preparing.catch(() => {})
          return (await ahead?.waits()) ?? false
        },
        isTaken: () => ahead?.isTaken() ?? false,
        end: async () => {
          await preparing.catch(() => {})
          await ahead?.end()
        },
      }
    },
  }
}

interface PlaceOptions extends Pick<WorkspaceOptions, 'records' | 'instance'> {
  readonly ids: Ids
  readonly make: boolean
  /** Which folder it must be, if that is known. */
  readonly identity: FolderIdentity | undefined
}

/** Opens the folders of a workspace and of its user. On failure, everything opened so far is closed. */
async function openPlaces(
  path: string,
  home: string,
  { ids, make, records, instance, identity: known }: PlaceOptions,
) {
  const workspace = resolve(path)
  // Records are only read, and those of an Instance with a private folder are in the home.
  const refuse = [...(instance === undefined ? [home] : []), join(workspace, '.hawser')]
  const homeFolders = await openHome(home)
  // Nothing is created in a workspace if the user has no home.
  if (!homeFolders.ok) return homeFolders
  const identity = known === undefined ? await identifyFolder(workspace) : ok(known)
  // Without an identity, opening it says why.
  const folder = identity.ok ? identity.value : undefined
  // Before the folder is created: a `.hawser` without an entry counts as the work of a command.
  const origin =
    make && folder !== undefined
      ? await workspaceRegister(homeFolders.value.own, ids).add(folder)
      : originOf(workspace, home).origin
  const adopts = make && origin === 'unknown' && hasContents(workspace)
  const [folders, files] = await Promise.all([
    instance !== undefined
      ? openRecords({ workspace: folder ?? workspace, instance })
      : records !== undefined
        ? openOwnRecords(records, ids)
        : openWorkspace(folder ?? workspace, ids, make ? 'create' : 'open'),
    openConfined(workspace, { refuse, identity: folder }),
  ])
  const all = [homeFolders, folders, files]
  const close = async () => {
    await Promise.all(all.flatMap((one) => (one.ok ? [one.value.close()] : [])))
  }
  const opened = await (async () => {
    if (!folders.ok) return folders
    if (!files.ok) return files
    if (!identity.ok) return identity
    // A guest can write to its records.
    const own = instance === undefined ? folders.value.own : undefined
    const foreign = origin === 'unknown' || origin === 'adopted'
    const settings = await loadSettings(homeFolders.value.own, own, { foreign })
    if (!settings.ok) return settings
    return ok({
      workspace,
      identity: identity.value,
      folders: folders.value,
      homeFolders: homeFolders.value,
      files: files.value,
      settings: settings.value,
      adopts,
      close,
    })
  })()
  if (!opened.ok) await close()
  return opened
}
