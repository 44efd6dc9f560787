import { join } from 'node:path'
import { composeRelayAccess } from './compose-relay.ts'
import type { Clock } from './host/clock.ts'
import type { Folder } from './host/files/files.ts'
import type { Ids } from './host/ids.ts'
import { userHome } from './host/machine.ts'
import type { ProgramFiles } from './host/process/own-program.ts'
import { commandLimits, systemSandbox, type Sandbox } from './host/sandbox/sandbox.ts'
import { ok, type Result } from './model/errors.ts'
import { isRemoteProvider } from './model/remote-providers.ts'
import type { Settings } from './model/settings.ts'
import type { InstanceRecord } from './model/tether/instance.ts'
import { catalogue } from './providers/models/catalogue.ts'
import { checkedProvider, chooseProvider } from './session/settings/choice.ts'
import { loadSettings } from './session/settings/settings.ts'
import { guestRuntime, type AgentModel } from './tether/instances/guest-runtime.ts'
import { Instances } from './tether/instances/instances.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface InstancesWorld {
  /** `$HAWSER_HOME`, and its path. */
  readonly home: Folder
  readonly path: string
  readonly env: Env
  readonly clock: Clock
  readonly ids: Ids
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
  /** The program of guests. Default: this program. */
  readonly program?: ProgramFiles | undefined
}

/** The Instances of a home, until they are closed. */
export interface OpenInstances {
  readonly tether: Instances
  readonly close: () => Promise<void>
}

/** Opens the Instances of a home, whose agents are guests. Close them once. */
export async function composeInstances(world: InstancesWorld): Promise<Result<OpenInstances>> {
  const { home, path, env, clock, ids, note, program } = world
  const settingsNow = async () => {
    const loaded = await loadSettings(home, undefined)
    return loaded.ok ? ok(loaded.value.settings) : loaded
  }
  const first = await settingsNow()
  if (!first.ok) return first
  const sandbox = sandboxOf(first.value)
  const modelOf = async (record: InstanceRecord): Promise<Result<AgentModel>> => {
    const settings = await settingsNow()
    return settings.ok ? agentModel(record, env, settings.value) : settings
  }
  const runtime = guestRuntime({ home: path, sandbox, modelOf, clock, ids, program })
  const roots = async () => {
    const settings = await settingsNow()
    return settings.ok ? ok((settings.value.instances?.roots ?? []).map(atHome)) : settings
  }
  const opened = await Instances.open({ home, path, clock, ids, runtime, roots, note })
  if (!opened.ok) return opened
  const { value: tether } = opened
  return ok({ tether, close: () => tether.close() })
}

function atHome(path: string): string {
  return path.startsWith('~/') ? join(userHome() ?? '/', path.slice(2)) : path
}

/** Its self-test runs once, before the first guest. */
function sandboxOf({ limits = {} }: Settings): Sandbox {
  return systemSandbox({ limits: commandLimits(limits) })
}

/** The most messages that wait in one conversation: as many as an Instance may have. */
const WAITING_TURNS = 256

function agentModel(
  { provider, model }: InstanceRecord,
  env: Env,
  settings: Settings,
): Result<AgentModel> {
  const { defaultOf } = catalogue(settings.models ?? {})
  const choice = chooseProvider({ provider, model, env, settings, defaultOf })
  if (!choice.ok) return choice
  const known = checkedProvider(choice.value.provider)
  if (!known.ok) return known
  const { effort, models, compaction, pressure, limits, resources } = settings
  const chosen = {
    provider: choice.value.provider,
    model: choice.value.model,
    // Nobody can be asked in a guest, and its sandbox confines what it does.
    permissionMode: settings.permission === 'read-only' ? settings.permission : ('auto' as const),
    settings: {
      ...(effort === undefined ? {} : { effort }),
      ...(models === undefined ? {} : { models }),
      ...(resources === undefined ? {} : { resources }),
      ...(compaction === undefined ? {} : { compaction }),
      ...(pressure === undefined ? {} : { pressure }),
      limits: { ...limits, waiting_turns: WAITING_TURNS },
    },
  }
  if (!isRemoteProvider(chosen.provider)) return ok(chosen)
  const access = composeRelayAccess(chosen.provider, env, settings)
  return access.ok ? ok({ ...chosen, access: access.value }) : access
}
