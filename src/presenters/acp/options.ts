import type {
  AvailableCommand,
  SessionConfigOption,
  SessionModeState,
} from '@agentclientprotocol/sdk'
import { PermissionMode } from '../../model/modes.ts'
import type { ModelRow } from '../../model/model-facts.ts'
import { OFFLINE_PROVIDER } from '../../model/remote-providers.ts'
import { Effort } from '../../model/settings.ts'
import { COMMANDS, type ListedSkills } from './commands.ts'

/** The settings of a Session, and what they can be set to. */
export interface OptionValues {
  readonly permissionMode: PermissionMode
  readonly provider: string
  readonly model: string
  readonly effort: string | undefined
  /** Those that can be used now. */
  readonly providers: readonly string[]
  readonly models: readonly ModelRow[]
}

const MODES = {
  'read-only': ['Read only', 'Reads files of the workspace; changes and runs nothing.'],
  ask: ['Ask', 'Asks before anything is changed or run.'],
  auto: ['Auto', 'Changes and runs what the sandbox allows without asking.'],
} as const satisfies Record<PermissionMode, readonly [string, string]>

export function modeState(currentModeId: PermissionMode): SessionModeState {
  const availableModes = PermissionMode.options.map((id) => {
    const [name, description] = MODES[id]
    return { id, name, description }
  })
  return { currentModeId, availableModes }
}

/** All options with their values. Clients that know options ignore modes, so the mode is one of them. Pure. */
export function configOptions(session: OptionValues): SessionConfigOption[] {
  const { permissionMode, provider, model, effort } = session
  return [
    {
      ...select('mode', 'Permissions', permissionMode, [...PermissionMode.options], (id) => {
        const [name, description] = MODES[PermissionMode.parse(id)]
        return { name, description }
      }),
      category: 'mode',
    },
    select('provider', 'Provider', provider, session.providers),
    { ...select('model', 'Model', model, modelsOf(session)), category: 'model' },
    {
      ...select('effort', 'Effort', effort ?? USUAL_EFFORT, [
        // It cannot be set back: the Log records levels only.
        ...(effort === undefined ? [USUAL_EFFORT] : []),
        ...Effort.options,
      ]),
      category: 'thought_level',
    },
  ]
}

/** No level was set: the model uses its own. */
const USUAL_EFFORT = 'default'

/** The current value is always one of them, even if it is in no catalogue. */
function select(
  id: string,
  name: string,
  currentValue: string,
  values: readonly string[],
  shown: (value: string) => { name: string; description?: string } = (value) => ({ name: value }),
): SessionConfigOption {
  const all = values.includes(currentValue) ? values : [currentValue, ...values]
  const options = all.map((value) => ({ value, ...shown(value) }))
  return { type: 'select', id, name, currentValue, options }
}

function modelsOf({ provider, models }: OptionValues): readonly string[] {
  if (provider === OFFLINE_PROVIDER) return [OFFLINE_PROVIDER]
  return models.filter((row) => row.provider === provider).map(({ id }) => id)
}

/** Commands of Hawser, then Skills that a person may activate. Pure. */
export function availableCommands(skills: ListedSkills): AvailableCommand[] {
  const own = Object.entries(COMMANDS).map(([name, { description, hint }]) => {
    return { name, description, ...(hint === undefined ? {} : { input: { hint } }) }
  })
  const trusted = skills.filter(({ name, trust }) => trust !== 'untrusted' && !isCommand(name))
  return [
    ...own,
    ...trusted.map(({ name, description }) => {
      return { name, description: description || `Skill ${name}`, input: { hint: 'arguments' } }
    }),
  ]
}

function isCommand(name: string): boolean {
  return Object.hasOwn(COMMANDS, name)
}
