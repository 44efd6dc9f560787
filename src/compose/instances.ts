import { join } from 'node:path'
import { instanceEngine } from './instance-engine.ts'
import { composeRelayAccess } from './relay.ts'
import { Redactor } from '../encoding/redaction.ts'
import type { Clock } from '../host/clock.ts'
import type { Folder } from '../host/files/files.ts'
import type { Ids } from '../host/ids.ts'
import { userHome } from '../host/machine.ts'
import type { ProgramFiles } from '../host/process/own-program.ts'
import { commandLimits, systemSandbox, type Sandbox } from '../host/sandbox/sandbox.ts'
import { ok, type Result } from '../model/errors.ts'
import { isRemoteProvider } from '../model/remote-providers.ts'
import type { Settings } from '../model/settings.ts'
import type { InstanceRecord } from '../model/tether/instance.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import { catalogue } from '../providers/models/catalogue.ts'
import { checkedProvider, chooseProvider } from '../session/settings/choice.ts'
import { secretsOf } from '../session/settings/credentials.ts'
import { loadSettings } from '../session/settings/settings.ts'
import { guestRuntime, type GuestModel } from '../tether/instances/guest-runtime.ts'
import { Instances } from '../tether/instances/instances.ts'
import { redactedTether } from '../tether/redacted-tether.ts'
import type { Tether } from '../tether/tether.ts'

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
  readonly tether: Tether
  readonly close: () => Promise<void>
}

/** Opens the Instances of a home, each with a guest. Close them once. */
export async function composeInstances(world: InstancesWorld): Promise<Result<OpenInstances>> {
  const { home, path, env, clock, ids, note, program } = world
  // A key that is configured while the server runs is known from the next start of a guest on.
  let redactor = new Redactor([])
  const settingsNow = async () => {
    const loaded = await loadSettings(home, undefined)
    if (!loaded.ok) return loaded
    redactor = new Redactor(secretsOf(env, loaded.value.settings))
    return ok(loaded.value.settings)
  }
  const first = await settingsNow()
  if (!first.ok) return first
  const sandbox = sandboxOf(first.value)
  const modelOf = async (record: InstanceRecord): Promise<Result<GuestModel>> => {
    const settings = await settingsNow()
    return settings.ok ? agentModel(record, env, settings.value) : settings
  }
  const engine = instanceEngine(first.value.engine)
  const frames = engine.frames({ home, clock, ids })
  const records = engine.records({ home, frames, clock, ids })
  const runtime = guestRuntime({ home: path, records, sandbox, modelOf, clock, ids, program })
  const roots = async () => {
    const settings = await settingsNow()
    return settings.ok ? ok((settings.value.instances?.roots ?? []).map(atHome)) : settings
  }
  const own = { home, path, clock, ids, frames, records, runtime, roots, note }
  const opened = await Instances.open(own)
  if (!opened.ok) return opened
  const { value: instances } = opened
  return ok({
    tether: redactedTether(instances, () => redactor),
    close: () => instances.close(),
  })
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
): Result<GuestModel> {
  const { defaultOf } = catalogue(settings.models ?? {})
  const choice = chooseProvider({ provider, model, env, settings, defaultOf })
  if (!choice.ok) return choice
  const known = checkedProvider(choice.value.provider)
  if (!known.ok) return known
  const { effort, models, compaction, pressure, limits, resources } = settings
  const secrets = secretsOf(env, settings)
  const chosen = {
    redactor: new Redactor(secrets),
    provider: choice.value.provider,
    model: choice.value.model,
    // A guest has no person to ask, and its sandbox confines what it does.
    permissionMode: settings.permission === 'read-only' ? settings.permission : ('auto' as const),
    settings: {
      ...definedFields({ effort, models, resources, compaction, pressure }),
      limits: { ...limits, waiting_turns: WAITING_TURNS },
    },
  }
  if (!isRemoteProvider(chosen.provider)) return ok(chosen)
  const access = composeRelayAccess(chosen.provider, env, settings)
  return access.ok ? ok({ ...chosen, access: access.value }) : access
}
