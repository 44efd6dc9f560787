import { sha256 } from '../../../src/encoding/hash.ts'
import type { Clock } from '../../../src/host/clock.ts'
import { systemIds, type Ids } from '../../../src/host/ids.ts'
import { adoptLog } from '../../../src/log/lifecycle/adopt.ts'
import { deleteLog } from '../../../src/log/lifecycle/delete.ts'
import { acquireLog, createLog } from '../../../src/log/open.ts'
import { openReader } from '../../../src/log/reader.ts'
import { salvageLog } from '../../../src/log/lifecycle/salvage.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { EventId, SessionId, TurnId } from '../../../src/model/ids.ts'
import type { CrashDisk } from '../host/crash-disk.ts'
import type { Inode } from '../host/crash-inode.ts'
import { immediateClock, testPlace, type TestPlace } from './log-place.ts'
import { newJournal, sessionStarted, StoryWriter, value } from './story.ts'
import { textFold } from './text-fold.ts'

/**
 * Writes, with a fixed clock and fixed ids, everything that a Log has in files: a story of two Turns, a killed writer with
 * a torn write, a fork, a Session from elsewhere that is adopted, a damaged one that is salvaged, and one that is deleted.
 * Returns the files after each part, each with its hash.
 */
export async function recordJourney(disk: CrashDisk): Promise<Readonly<Record<string, string[]>>> {
  const found: Record<string, string[]> = {}
  const fixed = fixedIds()
  const before = await testPlace(disk.folder(), FIXED_CLOCK, fixed)
  const session = await story(before)
  found['after a story'] = hashesOf(disk.root)

  const writer = value(await acquireLog(before.place, session, withKeep(before)))
  value(await writer.append([note('written before the kill')]))
  found['while a writer has the lease'] = hashesOf(disk.root)

  const after = disk.afterKill(2)
  await appendRaw(after.root, ['workspace', '.hawser', 'sessions', `${session}.ndjson`])
  const storage = await testPlace(after.folder(), FIXED_CLOCK, fixed)
  const next = value(await acquireLog(storage.place, session, withKeep(storage)))
  value(await next.append([note('written after the repair')]))
  await next.release()
  found['after a kill and a torn write'] = hashesOf(after.root)

  await fork(storage, session)
  found['after a fork'] = hashesOf(after.root)
  await adopt(storage, after.root)
  found['after an adoption'] = hashesOf(after.root)
  await salvage(storage, after.root)
  found['after a salvage'] = hashesOf(after.root)
  value(await deleteLog(storage.place, session))
  found['after a deletion'] = hashesOf(after.root)
  return found
}

const FIXED_CLOCK: Clock = { ...immediateClock, now: () => Date.UTC(2026, 0, 31, 12) }

const withKeep = ({ keep }: TestPlace) => ({ fold: textFold, keep })

function note(text: string): EventDraft {
  return { type: 'notice', data: { code: 'journey', text } }
}

async function story(storage: TestPlace): Promise<SessionId> {
  const journal = newJournal()
  const writer = new StoryWriter(storage, journal)
  await writer.begin()
  await writer.turn(1)
  await writer.end()
  await writer.open()
  await writer.turn(2)
  await writer.end()
  if (journal.session === undefined) throw new Error('the story has no Session')
  return journal.session
}

async function fork(storage: TestPlace, parent: SessionId): Promise<void> {
  const reader = value(await openReader(storage.place, parent))
  const { lines } = value(await reader.lines())
  await reader.close()
  const at = lines[5]
  if (at === undefined) throw new Error('the parent is too short')
  const data = {
    parent_session_id: parent,
    at_seq: at.seq,
    at_hash: at.hash,
    at_offset: at.next.offset,
    root_session_id: parent,
    resources_count: 0,
  }
  const id = storage.place.ids.session()
  const first: EventDraft = { type: 'session_fork', data }
  const child = value(await createLog(storage.place, id, [first], withKeep(storage)))
  value(await child.append([note('in the fork')]))
  await child.release()
}

async function begun(storage: TestPlace): Promise<SessionId> {
  const id = storage.place.ids.session()
  const writer = value(await createLog(storage.place, id, [sessionStarted], withKeep(storage)))
  for (const text of ['one', 'two', 'three']) value(await writer.append([note(text)]))
  await writer.release()
  return id
}

async function adopt(storage: TestPlace, root: Inode): Promise<void> {
  const id = await begun(storage)
  inodeAt(root, ['home', 'heads']).link([[id, undefined]])
  value(await adoptLog(storage.place, id, withKeep(storage)))
}

async function salvage(storage: TestPlace, root: Inode): Promise<void> {
  const id = await begun(storage)
  const { content } = inodeAt(root, ['workspace', '.hawser', 'sessions', `${id}.ndjson`])
  const at = content.indexOf('"two"')
  content[at + 1] = (content[at + 1] ?? 0) ^ 1
  value(await salvageLog(storage.place, id, withKeep(storage)))
}

async function appendRaw(root: Inode, path: readonly string[]): Promise<void> {
  inodeAt(root, path).write(Buffer.from('{"v":1,"seq":'))
}

function inodeAt(root: Inode, path: readonly string[]): Inode {
  return path.reduce((inode, name) => {
    const next = inode.entries?.get(name)
    if (next === undefined) throw new Error(`there is no ${name}`)
    return next
  }, root)
}

/** Every file below, with the hash of its bytes. */
function hashesOf(inode: Inode, path = ''): string[] {
  if (inode.entries === undefined) return [`${path} ${sha256(inode.content)}`]
  return [...inode.entries].flatMap(([name, one]) => hashesOf(one, `${path}/${name}`)).toSorted()
}

/** Ids that only count, each kind for itself. */
function fixedIds(): Ids {
  const counts = new Map<string, number>()
  const next = (kind: string) => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return `${kind}${String(count).padStart(26, '0')}`
  }
  return {
    ...systemIds(FIXED_CLOCK),
    session: () => SessionId.parse(next('ses_')),
    turn: () => TurnId.parse(next('trn_')),
    event: () => EventId.parse(next('evt_')),
    temporary: () => next('.tmp-'),
  }
}
