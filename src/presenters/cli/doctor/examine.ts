import { resolve } from 'node:path'
import { asResult, closing, type Folder } from '../../../host/files/files.ts'
import { instancesWithRecords, recordsIn } from '../../../host/files/records.ts'
import type { Ids } from '../../../host/ids.ts'
import { machineFacts, pathFacts, type PathFacts } from '../../../host/machine.ts'
import { workspaceGaps } from '../../../host/sandbox/mounts/wide-workspace.ts'
import { commandLimits, systemSandbox } from '../../../host/sandbox/sandbox.ts'
import { systemProgram } from '../../../host/process/system-program.ts'
import { openWorkspace } from '../../../host/workspace.ts'
import { originOf } from '../../../host/workspaces/origin.ts'
import type { FoundWorkspace } from '../../../host/workspace-search.ts'
import { ok, type ErrorKind, type Result } from '../../../model/errors.ts'
import { secretsOf } from '../../../session/settings/credentials.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { BadPayload } from '../../../session/queries/resources.ts'
import {
  effectiveSettings,
  type EffectiveSettings,
} from '../../../session/settings/effective-settings.ts'
import {
  applyingInstructions,
  type ApplyingInstructions,
} from '../../../session/queries/applying-instructions.ts'
import { withInstructions } from '../../../session/workspace/instructions.ts'
import {
  readAllSettings,
  sourcedSettings,
  type AllStoredSettings,
  type SourcedSetting,
} from '../../../session/settings/stored-settings.ts'
import { wantsColour } from '../world/answer.ts'
import { instanceNames } from '../world/instance-records.ts'
import type { CliWorld } from '../world/world.ts'
import type { Check } from './check.ts'
import * as machine from './machine-checks.ts'
import * as place from './place-checks.ts'
import { providerCheck, shortKeyCheck } from './provider-check.ts'
import { instructionsCheck } from './instructions-check.ts'
import { skillsCheck, type SkillWarnings } from './skills-check.ts'
import * as session from './session-checks.ts'

/** The results, in the order in which a person should fix them. */
export interface Examination {
  readonly checks: readonly Check[]
  readonly settings: readonly SourcedSetting[]
  readonly errors: readonly ErrorKind[]
  /** API keys in the settings, including ignored ones. */
  readonly keys: readonly string[]
}

/** Checks everything that Hawser depends on. A failure becomes a check result and does not stop the others. */
export async function examine(
  world: CliWorld,
  found: Result<Pick<FoundWorkspace, 'path' | 'folder'>>,
): Promise<Examination> {
  const path = found.ok ? ok(found.value.path) : found
  const facts = machineFacts()
  const homeFacts = await pathFacts(world.home)
  const here: PathFacts = path.ok ? await pathFacts(path.value) : { kind: 'missing' }
  const places = await examinePlaces(world, path)
  const stored = places.settings.ok ? places.settings.value : NOTHING_STORED
  const home = { path: world.home, facts: homeFacts }
  const workspace = { path: path.ok ? path.value : 'The current folder', facts: here }
  const sessions = await examineSessions(world, path)
  const records = path.ok ? await examineRecords(world, path.value) : []
  const skills = path.ok ? await examineSkills(world, path.value) : undefined
  const effective = effectiveSettings(stored)
  const { settings } = effective
  const applying = found.ok ? await examineInstructions(world, found.value, effective) : undefined
  const shortKeys = shortKeyCheck(world.env, settings)
  const disk = place.diskCheck([workspace, home])
  const limits = commandLimits(settings.limits ?? {})
  const sandbox = await systemSandbox({ env: world.env, limits }).status()
  return {
    settings: sourcedSettings(stored),
    errors: sessions.errors,
    keys: [stored.userFile, stored.workspaceFile].flatMap((file) =>
      secretsOf({}, file?.settings ?? {}),
    ),
    checks: [
      machine.nodeCheck(facts),
      machine.platformCheck(facts),
      machine.sandboxCheck(sandbox, path.ok ? workspaceGaps(path.value) : []),
      ...machine.limitsCheck(sandbox),
      machine.programCheck('ripgrep', await systemProgram('rg'), 'glob and grep do not work'),
      machine.programCheck('git', await systemProgram('git'), 'commands cannot use it'),
      place.homeCheck(home, places.home),
      place.workspaceCheck(workspace),
      ...(disk === undefined ? [] : [disk]),
      ...(places.locks === undefined ? [] : [place.locksCheck(places.locks)]),
      place.settingsCheck(places.settings),
      session.sessionsCheck(sessions.sessions),
      ...(records.length === 0 ? [] : [session.instancesCheck(recordsIn(workspace.path), records)]),
      ...(sessions.bad === undefined ? [] : [session.payloadsCheck(sessions.bad)]),
      ...(skills === undefined ? [] : [skillsCheck(skills)]),
      ...(applying === undefined ? [] : [instructionsCheck(applying)]),
      providerCheck(world.env, settings),
      ...(shortKeys === undefined ? [] : [shortKeys]),
      machine.terminalCheck(terminalFacts(world)),
    ],
  }
}

const NOTHING_STORED: AllStoredSettings = {
  userFile: undefined,
  workspaceFile: undefined,
  isTrusted: false,
}

interface Places {
  readonly home: Result<unknown>
  readonly settings: Result<AllStoredSettings>
  /** Absent if there is no folder to test them in. */
  readonly locks?: Result<boolean>
}

/** Reads settings from their files directly, so that invalid ones do not stop the other checks. */
async function examinePlaces(world: CliWorld, path: Result<string>): Promise<Places> {
  const home = await world.openHome()
  if (!home.ok) return { home, settings: ok(NOTHING_STORED) }
  const { folder, ids } = home.value
  return closing(home.value, async () => {
    const workspace = path.ok ? await openWorkspace(path.value, ids, 'open') : path
    const own = workspace.ok ? workspace.value.own : undefined
    try {
      const { origin } = originOf(path.ok ? path.value : '', world.home)
      const foreign = origin === 'unknown' || origin === 'adopted'
      const settings = await readAllSettings(folder, own, { foreign })
      return { home, settings, locks: await tryLock(own ?? folder, ids) }
    } finally {
      if (workspace.ok) await workspace.value.close()
    }
  })
}

/** Uses a temporary file. */
async function tryLock(folder: Folder, ids: Ids): Promise<Result<boolean>> {
  return asResult('try a file lock', async () => {
    const name = ids.temporary()
    const file = await folder.open(name, 'create')
    try {
      return ok(await closing(file, () => file.tryLock()))
    } finally {
      await folder.remove(name)
    }
  })
}

interface Sessions {
  readonly sessions: Result<readonly ListedSession[]>
  readonly errors: readonly ErrorKind[]
  /** Absent if there are no Sessions. */
  readonly bad?: Result<readonly BadPayload[]>
}

async function examineSessions(world: CliWorld, path: Result<string>): Promise<Sessions> {
  const opened = path.ok ? await world.open(path.value) : path
  if (!opened.ok) return { sessions: opened, errors: [] }
  return closing(opened.value, async ({ harness }) => ({
    sessions: ok(await harness.list()),
    errors: await harness.lastErrors(),
    bad: await harness.badPayloads(),
  }))
}

/** Instances with records here, by handle and id, or by id if it was deleted. None if that cannot be looked at. */
async function examineRecords(world: CliWorld, path: string): Promise<readonly string[]> {
  const home = await world.openHome()
  if (!home.ok) return []
  return closing(home.value, async ({ ids }) => {
    const workspace = await openWorkspace(path, ids, 'open')
    if (!workspace.ok) return []
    const found = await closing(workspace.value, ({ own }) =>
      asResult('look for records of Instances', async () => ok(await instancesWithRecords(own))),
    )
    if (!found.ok) return []
    const names = await instanceNames(world, found.value)
    return found.value.map((id, at) => {
      const name = names[at] ?? id
      return name === id ? id : `${name} (${id})`
    })
  })
}

/** `undefined` if the home cannot be opened, which is a problem of its own. */
async function examineSkills(world: CliWorld, path: string): Promise<SkillWarnings | undefined> {
  const home = await world.openHome()
  if (!home.ok) return undefined
  return closing(home.value, async (opened) => (await world.skills(resolve(path), opened)).list())
}

/** `undefined` if the home or the workspace cannot be opened, which is a problem of its own. */
async function examineInstructions(
  world: CliWorld,
  { path, folder }: Pick<FoundWorkspace, 'path' | 'folder'>,
  settings: EffectiveSettings,
): Promise<readonly ApplyingInstructions[] | undefined> {
  const home = await world.openHome()
  if (!home.ok) return undefined
  return closing(home.value, async ({ folder: own }) => {
    const here = { workspace: resolve(path), home: own, homePath: world.home, settings }
    const found = await withInstructions(here, (parts) => applyingInstructions(parts, { folder }))
    return found.ok && found.value.ok ? found.value.value : undefined
  })
}

function terminalFacts(world: CliWorld): machine.TerminalFacts {
  const { stdin, stdout, stderr } = world.streams
  return {
    stdin: stdin.isTTY,
    stdout: stdout.isTTY,
    stderr: stderr.isTTY,
    columns: stdout.columns,
    rows: stdout.rows,
    colour: wantsColour(world, stdout),
    env: world.env,
  }
}
