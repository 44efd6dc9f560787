import { acquireLog } from '../../../src/log/open.ts'
import type { LogLine } from '../../../src/log/line.ts'
import { indexName, logName } from '../../../src/log/files/names.ts'
import type { LogPlace } from '../../../src/log/place.ts'
import { openReader } from '../../../src/log/reader.ts'
import { salvageLog } from '../../../src/log/lifecycle/salvage.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { CrashDisk } from '../../support/host/crash-disk.ts'
import { immediateClock, testPlace, type TestPlace } from '../../support/log/log-place.ts'
import { random } from '../../support/host/random.ts'
import { overwrite, rawBytes, rawLog } from '../../support/log/raw-log.ts'
import { newJournal, StoryWriter, value } from '../../support/log/story.ts'
import { textFold, type TextState } from '../../support/log/text-fold.ts'
import { MUTATIONS } from './mutations.ts'

/** A finished Session and the original content of its Log. */
export interface Original {
  readonly storage: TestPlace
  readonly session: SessionId
  readonly bytes: Buffer
  readonly lines: readonly LogLine[]
  readonly head: Buffer
  readonly index: Buffer
  readonly state: TextState
}

export async function originalLog(): Promise<Original> {
  const made = await testPlace(new CrashDisk(1).folder(), immediateClock)
  // With schemas of its own, so that its head spares readers the check of schemas.
  const storage = { ...made, place: { ...made.place, schemas: 'of the story' } }
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  await storyWriter.turn(1)
  await storyWriter.turn(2)
  await storyWriter.end()
  const { session } = storyWriter.journal
  if (session === undefined) throw new Error('the story has no Session yet')
  const { lines } = await forward(storage.place, session)
  const head = await rawBytes(storage.place.folders.heads, session)
  const index = await rawBytes(storage.place.folders.sessions, indexName(session))
  const bytes = await rawLog(storage.place.folders.sessions, session)
  const state = lines.reduce((before, line) => textFold.step(before, line, true), textFold.initial)
  return { storage, session, bytes, lines, head, index, state }
}

/** Replaces the original by the mutant, with the original's head and nothing else beside it. */
async function exchange(original: Original, mutant: Buffer): Promise<void> {
  const { sessions, heads } = original.storage.place.folders
  for (const name of await sessions.names()) await sessions.remove(name)
  await overwrite(sessions, logName(original.session), mutant)
  await overwrite(heads, original.session, original.head)
}

/** The original index, or one changed in one way: no reader may reach a different state with it. */
export async function mutateIndexOnce(original: Original, seed: number): Promise<string[]> {
  const { storage, session, bytes, index } = original
  const chance = random(seed)
  await exchange(original, bytes)
  await overwrite(storage.place.folders.sessions, indexName(session), MUTATIONS.flip(index, chance))
  const reader = value(await openReader(storage.place, session))
  const end = value(await reader.fold(textFold))
  await reader.close()
  const taken = await acquireLog(storage.place, session, { fold: textFold, keep: storage.keep })
  if (taken.ok) await taken.value.release()
  const same = JSON.stringify(end.state) === JSON.stringify(original.state)
  const untouched = (await rawLog(storage.place.folders.sessions, session)).equals(bytes)
  return [
    ...(same && end.damage === undefined ? [] : ['index: another state']),
    ...(taken.ok ? [] : [`index: ${taken.error.kind}`]),
    ...(untouched ? [] : ['index: the Log was changed']),
  ]
}

/** Changes the Log in one way and tries every reader; empty if each of them noticed. */
export async function mutateOnce(original: Original, seed: number): Promise<string[]> {
  const { bytes } = original
  const chance = random(seed)
  const name = chance.pick(Object.keys(MUTATIONS) as (keyof typeof MUTATIONS)[])
  const mutant = MUTATIONS[name](bytes, chance)
  if (mutant.equals(bytes)) return []
  await exchange(original, mutant)
  const offences = [
    ...(await judgeForward(original)),
    ...(await judgeLines(original)),
    ...(await judgeBackward(original)),
    ...(chance.next() < 0.1 ? await judgeSalvage(original) : []),
    ...(await judgeWriter(original, mutant)),
  ]
  return offences.map((offence) => `${name}: ${offence}`)
}

async function judgeForward({ storage, session, lines }: Original): Promise<string[]> {
  const offences: string[] = []
  const { lines: got, noticed } = await forward(storage.place, session)
  if (got.some((line, i) => line.hash !== lines[i]?.hash)) offences.push('forward: wrong event')
  if (!noticed) offences.push('forward: unnoticed')
  const verdict = value(await verifyLog(storage.place, session))
  if (verdict.damage === undefined && verdict.torn_bytes === 0) offences.push('verify: unnoticed')
  return offences
}

/** Whether schemas are checked makes no difference to what is read and reported. */
async function judgeLines({ storage: { place }, session }: Original): Promise<string[]> {
  const readWith = async (schemas: string | undefined) => {
    const reader = value(await openReader({ ...place, schemas }, session))
    const read = value(await reader.lines())
    await reader.close()
    return JSON.stringify(read)
  }
  const [fast, slow] = [await readWith(place.schemas), await readWith(undefined)]
  return fast === slow ? [] : ['lines: another result without schemas']
}

async function judgeBackward({ storage, session, lines }: Original): Promise<string[]> {
  const known = new Map(lines.map((line) => [line.hash, line.seq]))
  const offences: string[] = []
  const reader = value(await openReader(storage.place, session))
  let after: number | undefined
  // A reader stops before an unfinished last line; only reading forward reports that it exists.
  let noticed = (await rawLog(storage.place.folders.sessions, session)).at(-1) !== 10
  for await (const result of reader.backward()) {
    if (!result.ok) {
      noticed = true
      break
    }
    const seq = known.get(result.value.hash)
    if (seq === undefined) offences.push('backward: wrong event')
    if (after !== undefined && seq !== after - 1) offences.push('backward: wrong order')
    after = seq
  }
  if (!noticed) offences.push('backward: unnoticed')
  await reader.close()
  return offences
}

/** The head is at the end of this Log, so only bytes after that may count as a torn tail. */
async function judgeWriter(
  { storage, session, bytes }: Original,
  mutant: Buffer,
): Promise<string[]> {
  const taken = await acquireLog(storage.place, session, { fold: textFold, keep: storage.keep })
  if (taken.ok) {
    await taken.value.release()
    const after = await rawLog(storage.place.folders.sessions, session)
    if (!after.subarray(0, bytes.length).equals(bytes)) return ['writer: cut into the Log']
    const repaired = after.includes('"type":"log_repaired"')
    return repaired ? [] : ['writer: opened as if nothing was']
  }
  const untouched = (await rawLog(storage.place.folders.sessions, session)).equals(mutant)
  if (taken.error.kind !== 'log_damaged') return [`writer: ${taken.error.kind}`]
  return untouched ? [] : ['writer: changed a damaged Log']
}

async function judgeSalvage({ storage, session, lines }: Original): Promise<string[]> {
  const known = new Set(lines.map((line) => line.content.event.id))
  const saved = await salvageLog(storage.place, session, { fold: textFold, keep: storage.keep })
  if (!saved.ok) return [`salvage: ${saved.error.kind}`]
  const { lines: got, noticed } = await forward(storage.place, saved.value.session_id)
  const ours = new Set(['salvaged', 'salvage_gap'])
  const offences = noticed ? ['salvage: the new Log is damaged'] : []
  // The last line ends what the Log permitted.
  if (got.at(-1)?.content.event.type !== 'session_settings') offences.push('salvage: not narrowed')
  for (const { content } of got.slice(0, -1)) {
    const { event } = content
    const isNotice = 'code' in event.data && ours.has(String(event.data.code))
    const repair = event.type === 'log_repaired' || event.type === 'lock_taken'
    if (!isNotice && !repair && !known.has(event.id)) offences.push('salvage: wrong event')
  }
  return offences
}

async function forward(place: LogPlace, session: SessionId) {
  const reader = value(await openReader(place, session))
  const lines: LogLine[] = []
  const end = value(await reader.forward((line) => void lines.push(line)))
  await reader.close()
  return { lines, noticed: end.damage !== undefined || end.isUnfinished }
}
