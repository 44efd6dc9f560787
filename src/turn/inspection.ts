import { sha256 } from '../encoding/hash.ts'
import { inspectionSubject, openWatches, type OpenWatch } from '../history/open-watch.ts'
import { shownPath } from '../host/files/confined-path.ts'
import type { ProtectedChange } from '../host/sandbox/watch/watch.ts'
import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import { notice } from '../model/events/notice.ts'
import type { TurnParts } from './parts/turn-parts.ts'
import type { PermissionAnswer, PermissionQuestion } from './parts/permission.ts'
import { verdictDraft } from './parts/verdict.ts'
import type { PermissionSubject } from './parts/permission.ts'
import type { Claim } from '../policy/claim.ts'

type InspectionParts = Pick<TurnParts, 'log' | 'tools' | 'person'>

/**
 * Settles commands that were killed together with Hawser, before their changes were inspected. Lists new files at protected
 * paths and asks whether to move them aside, because a person may have created them since. Without an answer, the command
 * stays unsettled.
 */
export async function settleKilled(parts: InspectionParts): Promise<Result<void>> {
  for (const watch of openWatches(parts.log.events())) {
    const found = await findings(parts, watch)
    if (!found.ok) return found
    if (found.value.length === 0) continue
    const named = await parts.log.commit([notice('killed_command', namedFindings(found.value))])
    if (!named.ok) return named
    const about = await aboutFindings(parts, watch, found.value)
    const answer = await parts.person.ask(question(about, found.value))
    if (!answer.ok) return answer
    // Where there is no one to ask, nothing was asked.
    if (answer.value.by === 'nobody') continue
    const settled = await settle(parts, about, found.value, answer.value)
    if (!settled.ok) return settled
  }
  return ok(undefined)
}

/** Why no command may run now; `undefined` if commands may run. */
export async function commandsRefused(
  parts: InspectionParts,
): Promise<Result<HawserError | undefined>> {
  for (const watch of openWatches(parts.log.events())) {
    const found = await findings(parts, watch)
    if (!found.ok) return found
    if (found.value.length === 0) continue
    const message = `${namedFindings(found.value)} No command runs until a person has decided about them.`
    return ok(
      failed('permission_denied', message, { paths: found.value.map(({ path }) => path) }, [
        { action: 'Answer the question in the chat: hawser chat --continue.' },
        { action: 'Or remove the files, if they are not yours.' },
      ]).error,
    )
  }
  return ok(undefined)
}

/** New files since the command started. If there are none, this is recorded, and the command is settled. */
async function findings(
  parts: InspectionParts,
  watch: OpenWatch,
): Promise<Result<readonly ProtectedChange[]>> {
  const found = await parts.tools.inspection.since(watch.data.paths)
  if (!found.ok || found.value.length > 0) return found
  const about = await aboutFindings(parts, watch, [])
  const verdict = { isAllowed: false, scope: 'once', by: 'policy' } as const
  const nothing = await parts.log.commit([verdictDraft(about, verdict)])
  return nothing.ok ? found : nothing
}

/** Moves first, then records: after a kill in between, the next inspection finds the remaining files and asks again. */
async function settle(
  { log, tools }: InspectionParts,
  about: PermissionSubject,
  found: readonly ProtectedChange[],
  answer: PermissionAnswer,
): Promise<Result<void>> {
  const decide = (verdict: PermissionAnswer) => log.commit([verdictDraft(about, verdict)])
  if (!answer.isAllowed) return decide(answer)
  const moved = await tools.inspection.moveAside(found)
  if (!moved.ok) {
    // The Turn ends here. A yes would settle the command although its files are still in place.
    const undecided = await decide({ isAllowed: false, scope: 'once', by: 'interrupt' })
    return undecided.ok ? moved : undecided
  }
  const decided = await decide(answer)
  if (!decided.ok || moved.value.length === 0) return decided
  return log.commit([notice('moved_aside', `Moved aside: ${firstNames(moved.value)}.`)])
}

async function aboutFindings(
  { tools }: InspectionParts,
  { data: { call_id } }: OpenWatch,
  found: readonly ProtectedChange[],
): Promise<PermissionSubject> {
  const { mode } = await tools.posture(claimOf(found))
  const args_sha256 = sha256(JSON.stringify(found.map(({ path }) => path)))
  return { subject: inspectionSubject(call_id), args_sha256, mode }
}

function question(about: PermissionSubject, found: readonly ProtectedChange[]): PermissionQuestion {
  return {
    about,
    claim: claimOf(found),
    reason: 'a killed command may have left this; yes moves it aside, no keeps it',
    offers: [],
  }
}

function claimOf(found: readonly ProtectedChange[]): Claim {
  const paths = found.map(({ path }) => path)
  return { tool: 'Move files aside', effect: 'write', paths, network: false }
}

function namedFindings(found: readonly ProtectedChange[]): string {
  const named = found.map(({ path, why }) => `${shownPath(path)} (${why})`)
  return `A command was killed before its files were inspected. New since it started: ${firstNames(named)}.`
}

const NAMED = 5

function firstNames(all: readonly string[]): string {
  const more = all.length - NAMED
  return all.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
