import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { SettingsChange } from '../admission/settings-change.ts'
import { keyedChoice } from '../surface/keyed-choice.ts'
import { currentSurface } from '../surface/current-surface.ts'
import { unfitEffort } from '../surface/effort-choice.ts'
import { appendedDrafts } from './appended-instructions.ts'
import { storeSurface } from './create.ts'
import type { SessionParts } from './session-parts.ts'
import { modeDrafts, type SessionState } from './state.ts'

/**
 * What a change of settings records, in one write; nothing if all are already set. A change of the model or its effort
 * includes the new surface, which is stored here, and so are appended instructions.
 */
export async function settingsDrafts(
  parts: SessionParts,
  { state, events }: SessionToChange,
  change: SettingsChange,
): Promise<Result<readonly EventDraft[]>> {
  const simple = simpleDrafts(state, change)
  if (!simple.ok || isSimple(change)) return simple
  const model = await modelDrafts(parts, state, change)
  if (!model.ok) return model
  const appended = await appendedDrafts(parts.log, events, change.append_instructions)
  return appended.ok ? ok([...simple.value, ...model.value, ...appended.value]) : appended
}

interface SessionToChange {
  readonly state: SessionState
  readonly events: readonly WholeEvent[]
}

/** Whether a change can apply while a Turn runs: what its requests consist of cannot change. */
export function isSimple({ model, effort, append_instructions }: SettingsChange): boolean {
  return model === undefined && effort === undefined && append_instructions === undefined
}

/** What the part of a change that can apply while a Turn runs records. */
export function simpleDrafts(
  state: SessionState,
  change: SettingsChange,
): Result<readonly EventDraft[]> {
  const title = titleDrafts(state, change.title)
  return title.ok ? ok([...modeDrafts(state, change), ...title.value]) : title
}

const TITLE_CHARACTERS = 200

function titleDrafts(
  state: SessionState,
  title: string | undefined,
): Result<readonly EventDraft[]> {
  if (title === undefined || title === state.title) return ok([])
  const isPlain = title.trim() !== '' && title.length <= TITLE_CHARACTERS && !/\p{Cc}/u.test(title)
  if (isPlain) return ok([{ type: 'session_settings', data: { title } }])
  const message = `A title is one line of 1 to ${TITLE_CHARACTERS} characters.`
  return failed('invalid_args', message, { characters: TITLE_CHARACTERS })
}

async function modelDrafts(
  parts: SessionParts,
  state: SessionState,
  { model: chosen, effort: chosenEffort }: SettingsChange,
): Promise<Result<readonly EventDraft[]>> {
  const { provider, model } = chosen ?? state
  const isModel = provider === state.provider && model === state.model
  const effort = chosenEffort ?? state.effort
  const isEffort = effort === state.effort
  if (isModel && isEffort) return ok([])
  const keyed = keyedChoice(parts.log.secrets, { provider, model })
  if (keyed !== undefined) return keyed
  const unfit = unfitEffort(parts.model, { provider, model, effort: chosenEffort })
  if (unfit !== undefined) return unfit
  const known = await parts.model.providerOf(provider)
  if (!known.ok) return known
  const current = await currentSurface(parts, { provider, model, effort }, 'reload')
  const surface = await storeSurface(parts.log, current)
  if (!surface.ok) return surface
  const data = { ...(isModel ? {} : { provider, model }), ...(isEffort ? {} : { effort }) }
  return ok([{ type: 'session_settings', data }, surface.value])
}
