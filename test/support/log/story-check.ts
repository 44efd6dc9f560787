import { closing, ifThere, type Folder } from '../../../src/host/files/files.ts'
import type { LogLine } from '../../../src/log/line.ts'
import { openReader } from '../../../src/log/reader.ts'
import { verifyLog } from '../../../src/log/verify.ts'
import { immediateClock, testPlace, type TestPlace } from './log-place.ts'
import { Refused, StoryWriter, value, type Journal } from './story.ts'
import { textFold } from './text-fold.ts'

/** Everything that the journal of a story promises and the disk does not contain; empty if nothing is missing. */
export async function judgeStory(root: Folder, journal: Journal): Promise<string[]> {
  const storage = await testPlace(root, immediateClock)
  const offences = [...(await judgeBlobs(storage, journal))]
  if (journal.session === undefined) return offences
  try {
    const storyWriter = new StoryWriter(storage, journal)
    await storyWriter.open()
    // The Log must open and accept a Turn.
    await storyWriter.turn(9)
    await storyWriter.end()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // A Session whose creation was not acknowledged may be missing.
    return journal.begun ? [...offences, `unopenable: ${error.message}`] : offences
  }
  return [...offences, ...(await judgeLog(storage, journal, journal.session))]
}

async function judgeBlobs({ store }: TestPlace, journal: Journal): Promise<string[]> {
  const offences: string[] = []
  for (const [key, bytes] of journal.blobs) {
    const got = await store.get(key)
    if (!got.ok) offences.push(`blob lost: ${got.error.message}`)
    else if (!got.value.equals(bytes)) offences.push(`blob wrong: ${key}`)
  }
  for (const key of value(await store.list())) {
    const whole = await store.get(key)
    if (!whole.ok) offences.push(`blob torn under its final name: ${key}`)
  }
  return offences
}

async function judgeLog(
  storage: TestPlace,
  journal: Journal,
  session: NonNullable<Journal['session']>,
): Promise<string[]> {
  const offences: string[] = []
  const lines: LogLine[] = []
  const reader = value(await openReader(storage.place, session))
  const end = value(await reader.forward((line) => void lines.push(line)))
  if (end.damage !== undefined) offences.push(`damaged: ${end.damage.message}`)
  for (const [seq, hash] of journal.acknowledged) {
    const found = lines[seq]
    if (found?.hash !== hash) offences.push(`event lost: ${seq}`)
  }
  const texts = new Set<string>()
  for (const line of lines) offences.push(...(await judgeLine(storage, line, journal, texts)))
  const verdict = value(await verifyLog(storage.place, session))
  if (verdict.damage !== undefined || verdict.torn_bytes > 0) offences.push('not whole after use')
  const byIndex = value(await reader.fold(textFold)).state
  const all = lines.reduce((state, line) => textFold.step(state, line, true), textFold.initial)
  if (JSON.stringify(byIndex) !== JSON.stringify(all)) offences.push('index differs from the Log')
  await reader.close()
  return offences
}

/** Every line was submitted, and occurs once; every blob it names exists; the bytes of every recorded repair are kept. */
async function judgeLine(
  { store, place }: TestPlace,
  { content, seq }: LogLine,
  journal: Journal,
  texts: Set<string>,
): Promise<string[]> {
  if (!content.isKnown) return [`unknown event: ${seq}`]
  const { event } = content
  const offences: string[] = []
  const text = await textOf(store, event.data)
  if (text !== undefined && (texts.has(text) || !journal.submitted.has(text))) {
    offences.push(`event not submitted: ${seq} ${text.slice(0, 20)}`)
  }
  if (text !== undefined) texts.add(text)
  for (const key of JSON.stringify(event.data).match(/[0-9a-f]{64}\.(txt|json)/g) ?? []) {
    const got = await store.get(key)
    if (!got.ok) offences.push(`dangling blob: ${seq} ${got.error.message}`)
  }
  if (event.type === 'log_repaired') {
    const names = event.data.pieces ?? [event.data.kept_as ?? '']
    const sizes = await Promise.all(names.map((name) => sizeOf(place.folders.sessions, name)))
    if (sizes.reduce((sum, size) => sum + size, 0) !== event.data.cut_bytes) {
      offences.push(`cut bytes not kept: ${names.join(' ')}`)
    }
  }
  return offences
}

async function sizeOf(sessions: Folder, name: string): Promise<number> {
  const file = await ifThere(sessions.open(name, 'read'))
  return file === undefined ? 0 : closing(file, async () => (await file.stat()).size)
}

async function textOf(store: TestPlace['store'], data: object): Promise<string | undefined> {
  if ('text' in data && typeof data.text === 'string') return data.text
  if ('output' in data && typeof data.output === 'string') return data.output
  if (!('text_blob' in data) || typeof data.text_blob !== 'string') return undefined
  const got = await store.get(data.text_blob)
  return got.ok ? got.value.toString('utf8') : undefined
}
