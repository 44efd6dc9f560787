import * as z from 'zod'
import { timestamp } from '../../../../host/clock.ts'
import { trust } from '../../../../host/trust.ts'
import type { Result } from '../../../../model/errors.ts'
import { SessionId, Sha256 } from '../../../../model/ids.ts'
import type { ListedSession } from '../../../../session/queries/list.ts'
import { readAllSettings, sourcedSettings } from '../../../../session/settings/stored-settings.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { TRUST } from '../../definitions/settings.ts'
import { sessionNamed } from '../../../../session/workspace/session-reference.ts'
import { shownValue } from '../../input/setting-values.ts'
import { unlessSure } from '../../input/confirm.ts'
import { inSettings, type SettingsPlace } from '../../world/settings-place.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { inWorkspace } from '../../world/workspace.ts'
import type { OpenWorkspace } from '../../../../session/workspace/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

type Options = CommandInput<typeof TRUST>['options']

export const Output = z.object({
  ok: z.literal(true),
  what: z.enum(['settings', 'session', 'instructions']),
  changed: z
    .boolean()
    .describe('False when there was nothing to trust, or it was trusted already.'),
  session_id: SessionId.optional(),
  sha256: Sha256.optional().describe('Of the settings that are trusted now.'),
  settings: z.record(z.string(), z.unknown()).optional().describe('The settings that now apply.'),
  files: z
    .array(z.object({ path: z.string(), sha256: Sha256 }))
    .optional()
    .describe('The project instructions that are trusted now.'),
})

/** Trusts the settings or the project instructions of a workspace, or a foreign Session, after showing it and asking for confirmation. */
export const run: Run<typeof TRUST> = async (world, input, definition) => {
  const [named] = input.args
  const { options } = input
  if (options.instructions) {
    const { trustHere } = await import('./trust-instructions.ts')
    return trustHere(world, input, definition)
  }
  return named === undefined
    ? inSettings(world, options, 'open', (place) => trustSettings(world, place, options))
    : inWorkspace(world, options, (opened) => trustSession(world, opened, named, options))
}

async function trustSettings(
  world: CliWorld,
  { home, workspace, foreign, ids }: SettingsPlace,
  { yes }: Options,
): Promise<Result<number>> {
  const stored = await readAllSettings(home, workspace, { foreign })
  if (!stored.ok) return stored
  const waiting = sourcedSettings(stored.value).flatMap(({ setting, untrusted }) =>
    untrusted === undefined ? [] : [[setting.key, untrusted] as const],
  )
  const { workspaceFile } = stored.value
  const what = { what: 'settings' }
  if (workspaceFile === undefined || workspace === undefined || waiting.length === 0) {
    return answer(world, { ...what, changed: false }, () => NOTHING_WAITS)
  }
  const lines = waiting.map(([key, value]) => `  ${key} = ${shownValue(value)}\n`)
  const summary = `Untrusted settings of this workspace:\n${lines.join('')}`
  const refused = await unlessSure(world, yes, {
    summary,
    question: 'Trust these settings as they are now?',
    command: 'hawser trust --yes',
  })
  if (refused !== undefined) return refused
  // Only what was shown is trusted: a file that changed since has another hash.
  const { sha256 } = workspaceFile
  const at = timestamp(world.clock)
  const done = await trust(home, { sha256, what: `settings of ${workspace.label}`, at }, ids)
  if (!done.ok) return done
  const settings = Object.fromEntries(waiting)
  const keys = waiting.map(([key]) => key).join(', ')
  const words = () => `Trusted settings: ${keys}.\n`
  return answer(world, { ...what, changed: true, sha256, settings }, words)
}

const NOTHING_WAITS = 'No untrusted settings in this workspace.\n'

async function trustSession(
  world: CliWorld,
  { harness }: OpenWorkspace,
  named: string,
  { yes }: Options,
): Promise<Result<number>> {
  const id = await sessionNamed(harness, named)
  if (!id.ok) return id
  const session = await harness.find(id.value)
  if (!session.ok) return session
  const what = { what: 'session', session_id: id.value }
  if (!session.value.foreign) {
    const known = () => `${id.value} is already trusted.\n`
    return answer(world, { ...what, changed: false }, known)
  }
  const refused = await unlessSure(world, yes, {
    summary: summaryOf(session.value),
    question: 'Trust this Session, so that it can be continued here?',
    command: `hawser trust ${id.value} --yes`,
  })
  if (refused !== undefined) return refused
  const adopted = await harness.adopt(id.value)
  if (!adopted.ok) return adopted
  const words = () => `Trusted ${id.value}. To continue it: hawser run --session ${id.value}\n`
  return answer(world, { ...what, changed: true }, words)
}

function summaryOf({ id, state }: ListedSession): string {
  const { title, turns, last_ts, provider, model, workspace, permission_mode } = state
  const facts = [
    ['title', title],
    ['Turns', String(turns)],
    ['written', last_ts],
    ['workspace', workspace],
    ['model', `${provider}/${model}`],
    ['permission', permission_mode === 'auto' ? AUTO_THERE : permission_mode],
  ] as const
  const lines = facts.map(([name, value]) => `  ${name}: ${visibleLine(value)}\n`)
  return `${id} was created elsewhere:\n${lines.join('')}`
}

/** Trusting a Session grants no permissions. */
const AUTO_THERE = 'ask (recorded: auto; only --permission auto sets that here)'
