import { join } from 'node:path'
import { Redactor } from '../../encoding/redaction.ts'
import { sameFacts } from '../../history/instructions.ts'
import { localDate } from '../../host/clock.ts'
import { historyOf } from '../../history/history.ts'
import { withoutCalls } from '../../history/without-calls.ts'
import { currentBranch } from '../../host/git-branch.ts'
import { commandShell, operatingSystem, userHome } from '../../host/machine.ts'
import { foldersUpwards } from '../../host/workspace-search.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import { currentInstructions } from '../../turn/instructions/current-instructions.ts'
import type { TextKeeper } from '../../turn/parts/instruction-parts.ts'
import type { LateFacts } from '../../turn/open.ts'
import type { SessionParts } from './session-parts.ts'
import { modeOfCalls, type SessionState } from './state.ts'

/** The Session when a Turn starts. */
export interface SessionAtStart {
  readonly state: SessionState
  readonly events: readonly WholeEvent[]
}

/**
 * The late context of a new Turn, sampled once; `undefined` when it equals what the model received last. After a checkpoint
 * it is given again. The texts of project instructions are stored with `put`.
 */
export async function lateContext(
  {
    workspace: { path, folder = '' },
    log,
    model,
    tools,
  }: Pick<SessionParts, 'workspace' | 'log' | 'model' | 'tools'>,
  { state, events }: SessionAtStart,
  put: TextKeeper['put'],
): Promise<Result<LateFacts | undefined>> {
  const branch = await currentBranch(foldersUpwards(join(path, folder), userHome()))
  const redactor = new Redactor(log.secrets)
  const paths = [folder === '' ? '.' : folder]
  const found = await currentInstructions(tools.instructions, events, paths, { put, redactor })
  if (!found.ok) return found
  const context = {
    workspace: model.contract?.lateWorkspace ?? path,
    ...(folder === '' ? {} : { folder }),
    ...(branch === undefined ? {} : { branch }),
    mode: state.mode,
    permission_mode: modeOfCalls(state),
    ...localDate(log.place.clock),
    os: operatingSystem(),
    shell: await commandShell(),
    ...found.value.facts,
  }
  const since = historyOf(events).checkpoint?.seq ?? 0
  const last = withoutCalls(events).findLast(
    (event) => event.type === 'late_context' && event.seq > since,
  )
  const known = last?.type === 'late_context' && sameFacts(last.data, context)
  return ok(known ? undefined : { context, texts: found.value.drafts })
}
