// Forks of a long Session, without and with a checkpoint: time and disk of each, relative to a fork of an empty Session; and opening
// a chain of ten forks, relative to one Session with the same Turns. Floors: the same forks of an empty Session, in turn, and in a
// workspace that has no other fork.
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionId } from '../src/model/ids.ts'
import { Harness } from '../src/session/harness.ts'
import type { Session } from '../src/session/session.ts'
import { asFilePlace } from '../test/support/log/file-place.ts'
import { value } from '../test/support/log/story.ts'
import { openParts, type OpenParts } from '../test/support/session/harness-parts.ts'
import { full, median, medianRatio, tell, timed } from './figure.ts'
import { LongStory } from './long-log.ts'
import { inScratch } from './scratch.ts'

const FORKS = full ? 1000 : 30
const OPENINGS = full ? 200 : 40
const LOG_BYTES = (full ? 200 : 20) * 1024 * 1024
const GROUP_BYTES = 2 * 1024 * 1024
const TURN_BYTES = 64 * 1024
const DEPTH = 10
const REHEARSAL = { provider: 'rehearsal', model: 'rehearsal' } as const
/** What forks may add; the lock is one for all Sessions of a workspace. */
const FILES = /^(?:sessions\/(?:ses_\w{26}\.(?:ndjson|lease|index)|\.lock)|heads\/ses_\w{26})$/

await inScratch(async (folder) => {
  const [root, few] = [join(folder, 'many'), join(folder, 'few')]
  for (const each of [root, few]) await mkdir(each, { recursive: true })
  const [opened, other] = [await openParts(root), await openParts(few)]
  try {
    await measure(root, opened, await fewForks(few, other))
  } finally {
    await opened.close()
    await other.close()
  }
})

/** The time of a fork in a workspace where each fork is removed before the next one. */
async function fewForks(root: string, { parts }: OpenParts): Promise<() => Promise<number>> {
  const harness = new Harness(parts)
  const empty = await closed(value(await harness.create(REHEARSAL)))
  return async () => {
    let child = ''
    const ms = await timed(async () => (child = value(await harness.fork(empty)).session_id))
    for (const folder of placesIn(root).map(([, path]) => path))
      for (const name of await readdir(folder))
        if (name.startsWith(child)) await rm(join(folder, name))
    return ms
  }
}

async function measure(
  root: string,
  { parts }: OpenParts,
  alone: () => Promise<number>,
): Promise<void> {
  const harness = new Harness(parts)
  const story = new LongStory({ place: asFilePlace(parts.log.place) }, 1)
  const grow = async (session: Session, bytes: number) => {
    for (let written = 0; written < bytes; written += GROUP_BYTES) {
      const drafts = story.turns(Math.min(GROUP_BYTES, bytes - written))
      value(await session.between(({ record }) => record(drafts)))
    }
  }
  const open = (id: SessionId) =>
    timed(async () => closed(value(await new Harness(parts).open(id))))
  const empty = await closed(value(await harness.create(REHEARSAL)))
  const long = value(await harness.create(REHEARSAL))
  await grow(long, LOG_BYTES)
  await long.close()
  await tellForks('without a checkpoint', long.id)
  const again = value(await harness.open(long.id))
  const plan = value(await again.compact())
  if (!plan.compactable) throw new Error(`not compactable: ${plan.reason}`)
  await again.close()
  await tellForks('with a checkpoint', long.id)
  await tellChain()

  async function tellForks(how: string, session: SessionId): Promise<void> {
    const [ofLong, ofEmpty, ofFew]: [number[], number[], number[]] = [[], [], []]
    const before = await filesIn(root)
    const children: SessionId[] = []
    for (let n = 0; n < FORKS; n += 1) {
      const fork = (parent: SessionId, into: SessionId[]) =>
        timed(async () => into.push(value(await harness.fork(parent)).session_id))
      ofEmpty.push(await fork(empty, []))
      ofLong.push(await fork(session, children))
      ofFew.push(await alone())
    }
    const after = await filesIn(root)
    const added = [...after.keys()].filter((name) => !before.has(name))
    const bytes = children.map((id) =>
      added
        .filter((name) => name.includes(id))
        .reduce((sum, name) => sum + (after.get(name) ?? 0), 0),
    )
    const others = added.filter((name) => !FILES.test(name)).length
    tell({
      bench: `fork: time of a fork of a long Session ${how}, relative to an empty one`,
      ratio: medianRatio(ofLong, ofEmpty),
      bar: '<= 1.2',
      more: { ms: median(ofLong), forks: FORKS, log_mib: LOG_BYTES / 1024 / 1024 },
    })
    const tenth = Math.ceil(FORKS / 10)
    tell({
      bench: `fork: time of the last tenth of these forks ${how}, relative to the first, and to forks among few`,
      ratio:
        medianRatio(ofLong.slice(-tenth), ofFew.slice(-tenth)) /
        medianRatio(ofLong.slice(0, tenth), ofFew.slice(0, tenth)),
      bar: '<= 1.2',
      more: { ms: median(ofLong.slice(-tenth)), floor_ms: median(ofFew.slice(-tenth)) },
    })
    tell({
      bench: `fork: bytes of all files of a fork of a long Session ${how}`,
      ratio: Math.max(...bytes),
      bar: '<= 4096',
      more: { median: median(bytes), first: bytes[0] ?? 0, last: bytes.at(-1) ?? 0 },
    })
    tell({
      bench: `fork: files of these forks ${how} that are not Log, head, lease or index`,
      ratio: others,
      bar: '<= 0',
      more: { files: added.length },
    })
  }

  /** Both Sessions have a checkpoint and the same ten Turns after it. */
  async function tellChain(): Promise<void> {
    const flat = value(await harness.open(value(await harness.fork(long.id)).session_id))
    for (let depth = 0; depth < DEPTH; depth += 1) await grow(flat, TURN_BYTES)
    await flat.close()
    let last: SessionId = long.id
    for (let depth = 0; depth < DEPTH; depth += 1) {
      const child = value(await harness.open(value(await harness.fork(last)).session_id))
      await grow(child, TURN_BYTES)
      last = await closed(child)
    }
    const [ofChain, ofFlat]: [number[], number[]] = [[], []]
    for (let n = 0; n < OPENINGS; n += 1) {
      ofFlat.push(await open(flat.id))
      ofChain.push(await open(last))
    }
    tell({
      bench: 'fork: opening a chain of ten forks, relative to one Session with the same Turns',
      ratio: medianRatio(ofChain, ofFlat),
      bar: '<= 1.5',
      more: { ms: median(ofChain), depth: DEPTH },
    })
  }
}

async function closed(session: Session): Promise<SessionId> {
  await session.close()
  return session.id
}

function placesIn(root: string): readonly (readonly [label: string, path: string])[] {
  return [
    ['sessions', join(root, 'workspace', '.hawser', 'sessions')],
    ['blobs', join(root, 'workspace', '.hawser', 'blobs')],
    ['heads', join(root, 'home', 'heads')],
  ]
}

/** The files of Sessions and heads with their sizes. */
async function filesIn(root: string): Promise<ReadonlyMap<string, number>> {
  const files = new Map<string, number>()
  for (const [label, folder] of placesIn(root)) {
    for (const name of await readdir(folder).catch(() => []))
      files.set(`${label}/${name}`, (await stat(join(folder, name))).size)
  }
  return files
}
