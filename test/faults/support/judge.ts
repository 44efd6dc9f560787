import type { EventDraft } from '../../../src/model/events/event.ts'
import type { BlobKey, SessionId } from '../../../src/model/ids.ts'
import type { LogLine } from '../../../src/log/line.ts'
import { acquireLog } from '../../../src/log/open.ts'
import { logName } from '../../../src/log/files/names.ts'
import { openReader } from '../../../src/log/reader.ts'
import { removeUnbegun } from '../../../src/log/unbegun.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import { turnEnded, value } from '../../support/log/story.ts'
import { textFold } from '../../support/log/text-fold.ts'
import type { FaultPlace } from './place.ts'
import type { Ledger } from '../../support/host/child-report.ts'

const JUDGED: EventDraft = { type: 'notice', data: { code: 'judged', text: 'It goes on.' } }

/** Broken promises; empty if there are none. */
export interface Offences {
  readonly events: string[]
  readonly blobs: string[]
}

export interface Judgement extends Offences {
  /** Torn tails that were found and cut so far, and holders that died. */
  readonly repaired: number
  readonly takenOver: number
}

export interface Rules {
  /** Every Event in the Log must have been acknowledged: refusals are reported, and no process was killed. */
  readonly onlyAcknowledged?: boolean
}

/** Opens every Session in the ledger, continues it, and compares its content with what was acknowledged. */
export async function judge(
  storage: FaultPlace,
  ledger: Ledger,
  rules: Rules = {},
): Promise<Judgement> {
  const total = { events: [] as string[], blobs: [] as string[], repaired: 0, takenOver: 0 }
  const named = new Map<BlobKey, string>()
  for (const key of ledger.blobs) named.set(key, 'acknowledged')
  for (const session of ledger.sessions.keys()) {
    const offence = await continueSession(storage, ledger, session)
    if (offence !== undefined) total.events.push(`${session}: ${offence}`)
    if (offence !== undefined || !ledger.sessions.has(session)) continue
    const found = await judgeLog(storage, ledger, session, rules)
    total.events.push(...found.offences.map((text) => `${session}: ${text}`))
    total.repaired += found.lines.filter((line) => isOf(line, 'log_repaired')).length
    total.takenOver += found.lines.filter((line) => isOf(line, 'lock_taken')).length
    for (const line of found.lines) {
      for (const key of keysIn(line)) named.set(key, `named by ${session} ${line.seq}`)
    }
  }
  total.blobs.push(...(await judgeBlobs(storage, named)))
  return total
}

/** It must open and accept further Events. */
async function continueSession(
  { place, keep }: FaultPlace,
  ledger: Ledger,
  session: SessionId,
): Promise<string | undefined> {
  const opened = await acquireLog(place, session, { fold: textFold, keep })
  if (!opened.ok) {
    const acknowledged = ledger.sessions.get(session)?.size ?? 0
    const { kind, message } = opened.error
    if (acknowledged > 0 || kind !== 'not_found') {
      return `unopenable with ${acknowledged} acknowledged: ${kind}: ${message}`
    }
    // It was announced, but its first line never became durable: there is nothing to keep.
    ledger.sessions.delete(session)
    return unlikeMissing(place, session)
  }
  const appended = await opened.value.append([JUDGED, turnEnded(place.ids.turn())])
  await opened.value.release()
  if (!appended.ok) return `cannot continue: ${appended.error.message}`
  const lines = appended.value.map(({ seq, hash }): [number, string] => [seq, hash])
  ledger.note({ what: 'events', session, lines })
  return undefined
}

/** If a writer finds no Session, neither do readers, and what an unwritten one left can be removed. */
async function unlikeMissing(
  place: FaultPlace['place'],
  session: SessionId,
): Promise<string | undefined> {
  const [reader, verdict] = [await openReader(place, session), await verifyLog(place, session)]
  if (reader.ok) {
    await reader.value.close()
    return 'not found, and yet it can be read'
  }
  if (verdict.ok) return 'not found, and yet verified'
  if (reader.error.kind !== 'not_found' || verdict.error.kind !== 'not_found') {
    return `not found, and yet ${reader.error.kind} and ${verdict.error.kind}`
  }
  await removeUnbegun(place, { dryRun: false })
  const left = await place.folders.sessions.open(logName(session), 'read').catch(() => undefined)
  const size = await left?.stat().then((facts) => facts.size)
  await left?.close()
  return size === 0 ? 'an empty Log is never removed' : undefined
}

async function judgeLog(
  { place }: FaultPlace,
  ledger: Ledger,
  session: SessionId,
  rules: Rules,
): Promise<{ offences: string[]; lines: LogLine[] }> {
  const offences: string[] = []
  const lines: LogLine[] = []
  const reader = value(await openReader(place, session))
  const end = value(await reader.forward((line) => void lines.push(line)))
  if (end.damage !== undefined) offences.push(`damaged: ${end.damage.message}`)
  const promised = ledger.sessions.get(session) ?? new Map<number, string>()
  for (const [seq, hash] of promised) {
    if (lines[seq]?.hash !== hash) offences.push(`event lost: ${seq}`)
  }
  const counts = new Map<string, number>()
  for (const line of lines) {
    if (!line.content.isKnown) offences.push(`unknown event: ${line.seq}`)
    const label = labelOf(line)
    if (label === undefined) continue
    // Each writer numbers its texts in the order of its calls.
    if (label.number <= (counts.get(label.writer) ?? 0)) {
      offences.push(`event doubled or out of order: ${line.seq}`)
    }
    counts.set(label.writer, label.number)
    if (rules.onlyAcknowledged === true && !promised.has(line.seq)) {
      offences.push(`event that was refused is there: ${line.seq}`)
    }
  }
  offences.push(...(await keptPieces(place.folders.sessions, lines)))
  const byIndex = value(await reader.fold(textFold)).state
  const all = lines.reduce((state, line) => textFold.step(state, line, true), textFold.initial)
  if (JSON.stringify(byIndex) !== JSON.stringify(all)) offences.push('index differs from the Log')
  await reader.close()
  const verdict = value(await verifyLog(place, session))
  const { damage, torn_bytes, foreign, unknown } = verdict
  if (damage !== undefined || torn_bytes > 0 || foreign || unknown > 0) {
    offences.push(`not whole after use: ${JSON.stringify(verdict)}`)
  }
  return { offences, lines }
}

/** The bytes that a repair cut off are stored beside the Log. */
async function keptPieces(
  sessions: FaultPlace['place']['folders']['sessions'],
  lines: readonly LogLine[],
): Promise<string[]> {
  const offences: string[] = []
  for (const { content, seq } of lines) {
    if (!content.isKnown || content.event.type !== 'log_repaired') continue
    const { kept_as, cut_bytes } = content.event.data
    const file = await sessions.open(kept_as ?? '', 'read').catch(() => undefined)
    const size = await file?.stat().then((facts) => facts.size)
    await file?.close()
    if (size === undefined || size === 0 || size > cut_bytes) {
      offences.push(`cut bytes not kept: ${seq}`)
    }
  }
  return offences
}

/** Every blob that was acknowledged or referred to is present, and every blob has the content that its name states. */
async function judgeBlobs(
  { store }: FaultPlace,
  named: ReadonlyMap<BlobKey, string>,
): Promise<string[]> {
  const offences: string[] = []
  for (const [key, why] of named) {
    const got = await store.get(key)
    if (!got.ok) offences.push(`blob ${why}: ${got.error.message}`)
  }
  for (const key of value(await store.list())) {
    if (named.has(key)) continue
    const got = await store.get(key)
    if (!got.ok) offences.push(`blob under its final name: ${got.error.message}`)
  }
  return offences
}

/** `writer.number:` at the beginning of a text. */
function labelOf({ content: { event } }: LogLine): { writer: string; number: number } | undefined {
  const { data } = event
  const texts = ['text' in data ? data.text : undefined, 'output' in data ? data.output : undefined]
  const text = texts.find((one) => typeof one === 'string')
  const match = /^(\w+)\.(\d+):/.exec(text ?? '')
  return match === null ? undefined : { writer: match[1] ?? '', number: Number(match[2]) }
}

function keysIn({ content: { event } }: LogLine): BlobKey[] {
  return (JSON.stringify(event.data).match(/[0-9a-f]{64}\.(txt|json)/g) ?? []) as BlobKey[]
}

function isOf({ content }: LogLine, type: EventDraft['type']): boolean {
  return content.event.type === type
}
