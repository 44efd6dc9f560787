// Opening a Session of 200 MB that has a checkpoint: what it reads, how long it takes until its first request, and its memory,
// relative to a new Session. The model is played by another process, so that its work and memory do not count.
import { asFilePlace } from '../test/support/log/file-place.ts'
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { ok } from '../src/model/errors.ts'
import { rehearsalProvider } from '../src/providers/rehearsal/stream.ts'
import { HeadRecord } from '../src/log/head-record.ts'
import type { SessionId } from '../src/model/ids.ts'
import { Harness } from '../src/session/harness.ts'
import { openParts } from '../test/support/session/harness-parts.ts'
import { value } from '../test/support/log/story.ts'
import { full, median, medianRatio, tell, tellSkipped } from './figure.ts'
import { firstRequest } from './first-request.ts'
import { LongStory } from './long-log.ts'
import { noMemoryFigures } from './memory.ts'
import { builtProgram, peakMeter, said, type Place } from './program.ts'
import { inScratch } from './scratch.ts'

const ROUNDS = full ? 15 : 3
const LOG_BYTES = (full ? 200 : 20) * 1024 * 1024
const GROUP_BYTES = 2 * 1024 * 1024
/** The model answers it at once, without a call. */
const QUESTION = 'What happened?'
const PROVIDER = 'anthropic'
const MODEL = 'claude-sonnet-5-5'
const PORT = 47_113

const PROGRAM = await builtProgram()

await inScratch(async (folder) => {
  const model = await startModel()
  try {
    await measure(folder, model.url)
  } finally {
    await model.stop()
  }
})

async function measure(folder: string, url: string): Promise<void> {
  const { session, tail_bytes } = await longSession(folder)
  const place = placeIn(folder, url)
  const log = join(place.cwd, '.hawser', 'sessions', `${session}.ndjson`)
  const fresh = [PROGRAM, 'run', QUESTION, '--provider', PROVIDER, '--model', MODEL, '--json']
  const resumed = [PROGRAM, 'run', '--session', session, QUESTION, '--json']
  await vouchAsProgram(join(folder, 'home', 'heads'), session, await said(fresh, place))

  if (noMemoryFigures === undefined) await tellMemory()
  else tellSkipped('checkpoint: memory', noMemoryFigures)

  const read = await bytesRead(resumed, place, folder)
  const log_mib = (await stat(log)).size / 1024 / 1024
  if (read === undefined) tellSkipped('checkpoint: bytes read', 'strace does not work here')
  else
    tell({
      bench: 'checkpoint: bytes read to open a Session beyond its tail, in KiB',
      ratio: (read - tail_bytes) / 1024,
      bar: '<= 256',
      more: { log_mib, tail_kib: tail_bytes / 1024 },
    })

  const [freshMs, resumedMs]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    freshMs.push(await firstRequest(fresh, place))
    resumedMs.push(await firstRequest(resumed, place))
  }
  tell({
    bench: 'checkpoint: start to first request of a long Session, relative to a new one',
    ratio: medianRatio(resumedMs, freshMs),
    bar: '<= 1.25',
    more: { ms: median(resumedMs), log_mib },
  })

  async function tellMemory(): Promise<void> {
    const peakOf = await peakMeter(folder)
    const [freshMb, resumedMb]: [number[], number[]] = [[], []]
    for (let round = 0; round < 5; round += 1) {
      // Each run adds a Turn, so each gets its own copy of the Session as the compaction left it.
      const copy = join(folder, 'copy')
      for (const name of ['workspace', 'home'])
        await cp(join(folder, name), join(copy, name), { recursive: true })
      const there = placeIn(copy, url)
      freshMb.push(await peakOf(fresh, there))
      resumedMb.push(await peakOf(resumed, there))
      await rm(copy, { recursive: true })
    }
    tell({
      bench:
        'checkpoint: peak memory of the first run after the checkpoint, relative to a new Session',
      ratio: medianRatio(resumedMb, freshMb),
      bar: '<= 1.1',
      more: { mb: median(resumedMb) },
    })
  }
}

/** `hawser rehearse` as a process of its own. */
async function startModel() {
  const env = { ...process.env, HAWSER_HOME: await mkdtemp(join(tmpdir(), 'hawser-model-')) }
  const child = spawn(process.execPath, [PROGRAM, 'rehearse', '--port', String(PORT)], { env })
  const url = await new Promise<string>((resolve, reject) => {
    let heard = ''
    const listen = (text: Buffer) => {
      heard += text.toString('utf8')
      const found = /listening on (http:\S+\d)\./.exec(heard)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.on('close', () => reject(new Error(`no model: ${heard}`)))
  })
  const stop = async () => {
    child.kill()
    await rm(env.HAWSER_HOME, { recursive: true })
  }
  return { url, stop }
}

function placeIn(root: string, url: string): Place {
  const model = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'offline' }
  const env = { ...process.env, ...model, HAWSER_HOME: join(root, 'home') }
  return { cwd: join(root, 'workspace'), env }
}

/** A Session with a checkpoint of `harness.compact`, and the bytes of the Log from its tail on. */
async function longSession(
  folder: string,
): Promise<{ readonly session: SessionId; readonly tail_bytes: number }> {
  await mkdir(folder, { recursive: true })
  // Here the model plays in this process; the program reaches it over a socket.
  const provider = rehearsalProvider({ chunk: 64, delayMs: 0 })
  const { parts, close } = await openParts(folder, {
    model: { providerOf: async () => ok(provider), dialectOf: async () => ok(provider) },
  })
  const place = asFilePlace(parts.log.place)
  const harness = new Harness(parts)
  const session = value(await harness.create({ provider: PROVIDER, model: MODEL }))
  value(await value(await session.admit('Who are you?')).done)
  const story = new LongStory({ place }, 1)
  for (let written = 0; written < LOG_BYTES; written += GROUP_BYTES) {
    value(await session.between(({ record }) => record(story.turns(GROUP_BYTES))))
  }
  const plan = value(await session.compact())
  if (!plan.compactable) throw new Error(`not compactable: ${plan.reason}`)
  const { id } = session
  await session.close()
  await close()
  const log = await readFile(join(folder, 'workspace', '.hawser', 'sessions', `${id}.ndjson`))
  const tail = log.indexOf(`{"v":1,"seq":${plan.data.tail.from_seq},`)
  return { session: id, tail_bytes: log.length - tail }
}

/** The head of the long Session as the program itself would have written it: it has the same schemas. */
async function vouchAsProgram(heads: string, session: SessionId, output: string): Promise<void> {
  const other = /"session_id":"(\w+)"/.exec(output)?.[1] ?? ''
  const headOf = async (id: string) =>
    HeadRecord.parse(JSON.parse(await readFile(join(heads, id), 'utf8')))
  const { checked_with = '' } = await headOf(other)
  const head = await headOf(session)
  await writeFile(join(heads, session), `${JSON.stringify({ ...head, checked_with })}\n`)
}

/** Bytes that a program reads from files of its Sessions; `undefined` without strace. */
async function bytesRead(
  args: readonly string[],
  { cwd, env }: Place,
  folder: string,
): Promise<number | undefined> {
  const output = join(folder, 'reads')
  const trace = ['-f', '-y', '-o', output, '-e', 'trace=read,pread64,readv,preadv']
  const running = promisify(execFile)('strace', [...trace, process.execPath, ...args], { cwd, env })
  running.child.stdin?.end()
  const failed = await running.then(
    () => false,
    () => true,
  )
  if (failed) return undefined
  const text = await readFile(output, 'utf8')
  const reads = text.matchAll(/^\d+\s+p?read\w*\(\d+<[^>]*\/(?:\.hawser|home)\/[^>]*>.*= (\d+)$/gm)
  return [...reads].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
}
