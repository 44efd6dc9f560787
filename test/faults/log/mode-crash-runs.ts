import { closing, type Folder } from '../../../src/host/files/files.ts'
import type { LogWriter } from '../../../src/log/append.ts'
import { acquireLog, createLog } from '../../../src/log/open.ts'
import { openReader } from '../../../src/log/reader.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { PermissionMode } from '../../../src/model/modes.ts'
import { sessionFold, type SessionState } from '../../../src/session/live/state.ts'
import { CrashDisk, PowerCut } from '../../support/host/crash-disk.ts'
import { immediateClock, testPlace } from '../../support/log/log-place.ts'
import { overwrite, rawBytes } from '../../support/log/raw-log.ts'
import { Refused, sessionStarted, turnEnded, value } from '../../support/log/story.ts'

/** What a story set and what was acknowledged; outside the disk, so that a crash does not affect it. */
interface ModeJournal {
  session: SessionId | undefined
  /** The last mode that was acknowledged. */
  acknowledged: PermissionMode | undefined
  /** A mode that was passed to the Log and is not acknowledged yet. */
  inFlight: PermissionMode | undefined
  /** The number of acknowledged changes. */
  changes: number
}

const CHANGES: readonly PermissionMode[] = ['auto', 'read-only', 'ask', 'auto', 'ask', 'auto']

/** How the story is run, or run wrongly. */
interface ModeStory {
  /** A planted bug: changes are acknowledged although the head does not cover them. */
  readonly withoutHead?: boolean
}

/** The number of steps of the story without a fault. */
async function modeSteps(): Promise<number> {
  const disk = new CrashDisk(1)
  await runModes(disk.folder(), newModeJournal())
  return disk.steps
}

/** Crashes at step `cutAt`, in every way, and says what is wrong after the restart. */
async function modeCrash(seed: number, cutAt: number, story: ModeStory = {}): Promise<string[]> {
  const found: string[] = []
  for (const how of ['afterCrash', 'afterKill'] as const) {
    const disk = new CrashDisk(seed, { powerCutAt: cutAt, shortWrites: true })
    const journal = newModeJournal()
    await untilCut(() => runModes(disk.folder(), journal))
    const next = disk[how](seed)
    if (story.withoutHead === true) await startHead(next.folder(), journal)
    // The restart is cut off too; what the next one finds must be as good.
    const again = next[how](seed, { powerCutAt: 1 + (cutAt % 12), shortWrites: true })
    await untilCut(() => judgeModes(again.folder(), journal))
    const offences = await judgeModes(again[how](seed).folder(), journal)
    found.push(...offences.map((offence) => `${how} at step ${cutAt}: ${offence}`))
  }
  return found
}

/** Crashes at every step of the story, with as many seeds. */
export async function modeCrashes(story: ModeStory, seeds: number): Promise<string[]> {
  const steps = await modeSteps()
  if (steps <= 60) throw new Error(`the story has only ${steps} steps`)
  const found: string[] = []
  for (let seed = 1; seed <= seeds; seed += 1)
    for (let step = 1; step <= steps; step += 1) found.push(...(await modeCrash(seed, step, story)))
  return found
}

function newModeJournal(): ModeJournal {
  return { session: undefined, acknowledged: undefined, inFlight: undefined, changes: 0 }
}

/** Changes the mode between Turns, within a Turn, and after the Log was opened again. */
async function runModes(root: Folder, journal: ModeJournal): Promise<void> {
  const { place, keep } = await testPlace(root, immediateClock)
  const session = place.ids.session()
  journal.session = session
  const options = { fold: sessionFold, keep }
  let writer = value(await createLog(place, session, [sessionStarted], options))
  journal.acknowledged = 'ask'
  for (const [at, mode] of CHANGES.entries()) {
    const turn_id = place.ids.turn()
    if (at % 2 === 0) {
      const source = { presenter: 'story' }
      value(await writer.append([{ type: 'turn_started', turn_id, data: { source } }], 'now'))
    }
    await set(writer, journal, mode)
    if (at % 2 === 0) value(await writer.append([{ ...turnEnded(turn_id), turn_id }], 'now'))
    if (at % 3 !== 2) continue
    await writer.release()
    writer = value(await acquireLog(place, session, options))
  }
  await writer.release()
}

async function set(
  writer: LogWriter<SessionState>,
  journal: ModeJournal,
  permission_mode: PermissionMode,
): Promise<void> {
  journal.inFlight = permission_mode
  const draft: EventDraft = { type: 'session_settings', data: { permission_mode } }
  const lines = value(await writer.append([draft], 'now'))
  if (lines.some(({ seq }) => writer.isUncovered(seq))) throw new Refused('not covered')
  journal.acknowledged = permission_mode
  journal.changes += 1
  journal.inFlight = undefined
}

/** Opens the Log as the next process does. */
async function judgeModes(root: Folder, journal: ModeJournal): Promise<string[]> {
  const { session, acknowledged, inFlight } = journal
  if (session === undefined || acknowledged === undefined) return []
  const { place, keep } = await testPlace(root, immediateClock)
  const opened = await acquireLog(place, session, { fold: sessionFold, keep })
  if (!opened.ok) return [`${acknowledged} is acknowledged, but ${opened.error.message}`]
  const writer = opened.value
  const { permission_mode: inForce } = writer.state
  const lines = await linesIn(place, session)
  await writer.release()
  const claims = lines.flatMap(({ type, data }) =>
    type === 'session_settings'
      ? (PermissionMode.safeParse(data['permission_mode']).data ?? [])
      : [],
  )
  const told = lines.some(
    ({ type, data }) => type === 'notice' && 'code' in data && data.code === 'not_vouched',
  )
  const isKept = inForce === acknowledged
  const isLeft = inFlight !== undefined && inForce === inFlight
  const last = claims.at(-1) ?? 'ask'
  // The change in flight is in the Log, and not in force.
  const isTakenBack = claims.length > journal.changes && inForce !== inFlight
  return [
    ...(isKept || isLeft ? [] : [`${acknowledged} is acknowledged, ${inForce} is in force`]),
    ...(inForce === 'ask' || claims.includes(inForce) ? [] : [`${inForce} was never in the Log`]),
    ...(last === inForce ? [] : [`the Log ends with ${last}, ${inForce} is in force`]),
    ...(isTakenBack && !told ? ['nothing says what is not in force'] : []),
  ]
}

async function linesIn(place: Parameters<typeof openReader>[0], session: SessionId) {
  const reader = value(await openReader(place, session))
  return closing(reader, async () =>
    value(await reader.lines()).lines.map(({ content }) => content.event),
  )
}

/** Puts the head of the new Log in place of the current one, as if no change had written it. */
async function startHead(root: Folder, { session }: ModeJournal): Promise<void> {
  if (session === undefined) return
  const { place } = await testPlace(root, immediateClock)
  const log = await rawBytes(place.folders.sessions, `${session}.ndjson`).catch(() => undefined)
  const end = log?.indexOf(10) ?? -1
  if (log === undefined || end === -1) return
  const reader = await openReader(place, session)
  if (!reader.ok) return
  const [first] = value(await reader.value.lines()).lines
  await reader.value.close()
  if (first === undefined) return
  const { hash, next } = first
  const head = JSON.stringify({ seq: 0, hash, offset: next.offset })
  await overwrite(place.folders.heads, session, Buffer.from(`${head}\n`))
  const index = `${session}.index`
  await overwrite(place.folders.sessions, index, Buffer.alloc(0)).catch(() => undefined)
}

async function untilCut(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof PowerCut || error instanceof Refused)) throw error
  }
}
