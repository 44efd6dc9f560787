import { useEffect, useState } from 'react'
import type { Effort } from '../../../src/model/settings.ts'
import type { PermissionMode, SessionMode } from '../../../src/model/modes.ts'
import { request } from '../api/server.ts'
import { visible } from '../transcript/text.ts'
import type { ApiModel, MessageDraft } from '../api/shapes.ts'
import type { SessionSettings } from '../session/fold.ts'

type Choices = MessageDraft['choices']

// Written out: the schemas that have them would bring their whole library into the page.
const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const MODES: readonly SessionMode[] = ['build', 'plan']
const PERMISSION_MODES: readonly PermissionMode[] = ['read-only', 'ask', 'auto']

/** Model, effort, mode and permission mode: what the Session has, unless the next message changes it. */
export function ChoicesBar({
  settings,
  choices,
  onChange,
}: {
  readonly settings: SessionSettings
  readonly choices: Choices
  readonly onChange: (choices: Choices) => void
}) {
  const [models, setModels] = useState<readonly ApiModel[]>([])
  useEffect(() => {
    void request<{ models: ApiModel[] }>('GET', '/api/harness/models').then((answer) => {
      if (answer.ok) setModels(answer.value.models)
    })
  }, [])
  const {
    provider = '',
    model = '',
    effort = '',
    permission_mode = 'ask',
    mode = 'build',
  } = settings
  const isPlan = (choices.mode ?? mode) === 'plan'
  const names = models.filter((one) => one.provider === provider).map(({ id }) => id)
  const all = names.includes(model) || model === '' ? names : [model, ...names]
  return (
    <div className="choices-bar">
      <Choice
        label="Model"
        value={choices.model ?? model}
        options={all.length === 0 ? [model] : all}
        onChange={(value) => onChange(withChoice(choices, 'model', value === model ? '' : value))}
      />
      <Choice
        label="Effort"
        value={choices.effort ?? effort}
        options={['', ...EFFORTS]}
        words={(one) => `${one === '' ? 'default' : one} effort`}
        onChange={(value) => onChange(withChoice(choices, 'effort', value === effort ? '' : value))}
      />
      <Choice
        label="Mode"
        value={choices.mode ?? mode}
        options={MODES}
        words={(one) => `${one} mode`}
        onChange={(value) => onChange(withChoice(choices, 'mode', value === mode ? '' : value))}
      />
      <Choice
        label="Permission"
        value={choices.permissionMode ?? permission_mode}
        options={PERMISSION_MODES}
        onChange={(value) =>
          onChange(withChoice(choices, 'permissionMode', value === permission_mode ? '' : value))
        }
      />
      {isPlan && <span className="quiet">read-only</span>}
    </div>
  )
}

function withChoice(choices: Choices, field: keyof Choices, value: string): Choices {
  const { [field]: _, ...rest } = choices
  return value === '' ? rest : { ...rest, [field]: value }
}

function Choice({
  label,
  value,
  options,
  words = (one) => one,
  onChange,
}: {
  readonly label: string
  readonly words?: (value: string) => string
  readonly value: string
  readonly options: readonly string[]
  readonly onChange: (value: string) => void
}) {
  return (
    <label className="choice" title={label}>
      <span className="spoken">{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map((one) => (
          <option key={one} value={one}>
            {visible(words(one))}
          </option>
        ))}
      </select>
    </label>
  )
}
