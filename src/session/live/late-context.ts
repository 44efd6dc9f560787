import { join } from 'node:path'
import { canonicalJson } from '../../encoding/json.ts'
import { localDate } from '../../host/clock.ts'
import { historyOf } from '../../history/history.ts'
import { withoutCalls } from '../../history/without-calls.ts'
import { currentBranch } from '../../host/git-branch.ts'
import { commandShell, operatingSystem, userHome } from '../../host/machine.ts'
import { foldersUpwards } from '../../host/workspace-search.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import type { PermissionMode } from '../../model/modes.ts'
import type { SessionParts } from './session-parts.ts'
import type { SessionState } from './state.ts'

/** The Session when a Turn starts. */
export interface SessionAtStart {
  readonly state: SessionState
  readonly events: readonly WholeEvent[]
  readonly permissionMode: PermissionMode
}

/**
 * The late context of a new Turn, sampled once; `undefined` when it equals what the model received last. After a checkpoint
 * it is given again.
 */
export async function lateContext(
  {
    workspace: { path, folder = '' },
    log,
    model,
  }: Pick<SessionParts, 'workspace' | 'log' | 'model'>,
  { state, events, permissionMode }: SessionAtStart,
): Promise<EventData<'late_context'> | undefined> {
  const branch = await currentBranch(foldersUpwards(join(path, folder), userHome()))
  const facts = {
    workspace: model.contract?.lateWorkspace ?? path,
    ...(folder === '' ? {} : { folder }),
    ...(branch === undefined ? {} : { branch }),
    mode: state.mode,
    permission_mode: permissionMode,
    ...localDate(log.place.clock),
    os: operatingSystem(),
    shell: await commandShell(),
  }
  const since = historyOf(events).checkpoint?.seq ?? 0
  const last = withoutCalls(events).findLast(
    (event) => event.type === 'late_context' && event.seq > since,
  )
  const known = last?.type === 'late_context' && canonicalJson(last.data) === canonicalJson(facts)
  return known ? undefined : facts
}
