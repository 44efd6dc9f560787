import { expect } from 'vitest'
import { sweepBlobs } from '../../../src/blobs/sweep.ts'
import { deleteLog } from '../../../src/log/lifecycle/delete.ts'
import { mentionsOf, removeHidden } from '../../../src/log/lifecycle/families.ts'
import { forkLog, type ForkedLog, type ForkOptions } from '../../../src/log/lifecycle/fork.ts'
import { acquireLog, createLog } from '../../../src/log/open.ts'
import { openReader } from '../../../src/log/reader.ts'
import { removeUnbegun } from '../../../src/log/unbegun.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import type { Result } from '../../../src/model/errors.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import type { BlobKey, SessionId } from '../../../src/model/ids.ts'
import type { TestPlace } from './log-place.ts'
import { sessionStarted, value } from './story.ts'
import { textFold, type TextState } from './text-fold.ts'

/** Forks, deletions and sweeps of Logs whose Events mean nothing: a Session can be forked after each of them. */

const note = (text: string): EventDraft => ({ type: 'notice', data: { code: 'branch', text } })
const writing = ({ keep }: TestPlace) => ({ fold: textFold, keep })

export async function newLog(storage: TestPlace): Promise<SessionId> {
  const id = storage.place.ids.session()
  await value(await createLog(storage.place, id, [sessionStarted], writing(storage))).release()
  return id
}

/** Appends a notice that mentions a blob, in a write of its own. */
export async function addNote(
  storage: TestPlace,
  session: SessionId,
  text: string,
): Promise<Result<BlobKey>> {
  const key = await storage.store.put([Buffer.from(text)], 'text/plain')
  if (!key.ok) return key
  const writer = await acquireLog(storage.place, session, writing(storage))
  if (!writer.ok) return writer
  const added = await writer.value.append([note(`${text} ${key.value}`)])
  await writer.value.release()
  return added.ok ? key : added
}

export function forkAt(
  storage: TestPlace,
  parent: SessionId,
  at?: number,
): Promise<Result<ForkedLog>> {
  const options: ForkOptions<TextState> = {
    ...writing(storage),
    at,
    isBoundary: () => true,
    begin: ({ cursor, state, parent: of }) => ({
      state,
      first: [
        {
          type: 'session_fork',
          data: {
            parent_session_id: of,
            root_session_id: of,
            at_seq: cursor.seq - 1,
            at_hash: cursor.prev ?? '',
            at_offset: cursor.offset,
            resources_count: 0,
          },
        },
      ],
    }),
  }
  return forkLog(storage.place, parent, options)
}

export const deleteAt = ({ place }: TestPlace, id: SessionId) => deleteLog(place, id)

/** What `gc` does, as if all blobs were old. */
export async function collect({ place, store }: TestPlace): Promise<void> {
  await removeUnbegun(place, { dryRun: false })
  await removeHidden(place, { dryRun: false })
  value(
    await sweepBlobs(store, {
      mentions: [mentionsOf(place)],
      writing: () => place.leases.beingWritten(),
      olderThan: Infinity,
      tidy: [place.logs, place.heads],
      dryRun: false,
    }),
  )
}

/** The ids of the Events that a Session has; proves that its Log is intact. */
export async function eventsOf(storage: TestPlace, id: SessionId): Promise<string[]> {
  const reader = value(await openReader(storage.place, id))
  const { lines, damage } = value(await reader.lines())
  await reader.close()
  expect([id, damage]).toEqual([id, undefined])
  expect(value(await verifyLog(storage.place, id)).damage).toBeUndefined()
  return lines.map(({ content }) => content.event.id)
}

/** The blobs that a Session mentions. */
export async function blobsOf(storage: TestPlace, id: SessionId): Promise<string[]> {
  const reader = value(await openReader(storage.place, id))
  const { lines } = value(await reader.lines())
  await reader.close()
  return lines.flatMap(({ content: { event } }) =>
    'text' in event.data ? (/[0-9a-f]{64}\.txt/.exec(String(event.data.text)) ?? []) : [],
  )
}
