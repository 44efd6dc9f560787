import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Unavailable } from '../support/npm/install.ts'
import { CLIENTS, type ClientName } from './pins.ts'
import { run } from '../support/npm/process.ts'
import { startRehearse, type Recorded } from './rehearse.ts'

/** A tool loop of one client over one transport. */
export interface Loop {
  /** The name of the transport, for example `WebSocket`. */
  readonly way: string
  /** The required beginning of every record of the server, for example `POST /v1/messages`. */
  readonly record: string
  /** Prepares the home of the client, and returns the command to run. */
  readonly prepare: (place: Place) => Promise<Prepared>
  /** The final answer, from what the client printed and what it left in its home. */
  readonly answer: (stdout: string, home: string) => Promise<string>
}

export interface Place {
  readonly origin: string
  readonly home: string
  readonly prompt: string
}

export interface Prepared {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Two calls of two tools, one after the other. The word in the file is random, so an answer that contains it proves that the
 * client read the file and sent the result; the copy proves that it ran the command.
 */
const PROMPT = 'read notes.txt, then run "cp notes.txt copy.txt"'
const CALLS = 2
const CLIENT_SECONDS = 90

/** Installs a client, has it complete each loop against a new server, and prints a figure for each. */
export async function testClient(
  client: ClientName,
  loopsOf: (root: string) => Promise<readonly Loop[]>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'hawser-client-'))
  const { version } = CLIENTS[client]
  try {
    for (const loop of await loopsOf(root)) {
      const started = performance.now()
      const { offences, requests } = await complete(root, loop)
      for (const offence of offences) console.log(`${client} over ${loop.way}: ${offence}`)
      const completed = offences.length === 0
      const seconds = Number(((performance.now() - started) / 1000).toFixed(1))
      const figure = { loop: `${client} over ${loop.way}`, version, completed }
      console.log(JSON.stringify({ ...figure, calls: CALLS, requests, seconds }))
    }
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    console.log(JSON.stringify({ loop: client, version, skipped: error.message }))
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

async function complete(root: string, loop: Loop) {
  const folder = await mkdtemp(join(root, 'loop-'))
  const [home, workspace, served] = ['home', 'workspace', 'served'].map((name) =>
    join(folder, name),
  )
  if (home === undefined || workspace === undefined || served === undefined) throw new Error(folder)
  for (const one of [home, workspace, served]) await mkdir(one)
  const word = `anchor-${randomBytes(8).toString('hex')}`
  await writeFile(join(workspace, 'notes.txt'), `${word}\n`)
  const server = await startRehearse(served)
  const place = { origin: server.origin, home, prompt: PROMPT }
  let records: readonly Recorded[] = []
  try {
    const { command, env } = await loop.prepare(place)
    const ran = await run(command, {
      cwd: workspace,
      env: { ...offline(home, command), ...env },
      seconds: CLIENT_SECONDS,
    })
    const answer = ran.code === 0 ? await loop.answer(ran.stdout, home) : ''
    const copy = await readFile(join(workspace, 'copy.txt'), 'utf8').catch(() => undefined)
    records = await server.stop()
    const offences = [
      ...(ran.code === 0 ? [] : [`ended with ${ran.code ?? 'a timeout'}: ${ran.stderr}`]),
      ...(answer.includes(word) ? [] : [`the answer does not contain ${word}: ${answer}`]),
      ...(copy === `${word}\n` ? [] : ['the command did not copy the file']),
      ...wrongRecords(loop, records),
    ]
    return { offences, requests: records.length }
  } catch (error) {
    await server.stop().catch(() => {})
    throw error
  }
}

/** Checks that the server answered one request for each call and one for the answer, all of the loop's kind. */
function wrongRecords({ record }: Loop, records: readonly Recorded[]): string[] {
  const lines = records.map(({ method, path, status }) => `${method} ${path} ${status}`)
  const others = lines.filter((line) => !line.startsWith(record) || !line.endsWith(' 200'))
  const few = records.length <= CALLS ? [`only ${records.length} requests are recorded`] : []
  return [...others.map((line) => `unexpected request: ${line}`), ...few]
}

/** An environment with a proxy that does not exist, so that no request leaves this machine. */
function offline(home: string, [command = '']: readonly string[]): Record<string, string> {
  const nowhere = 'http://127.0.0.1:9'
  return {
    PATH: `${dirname(command)}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    TMPDIR: home,
    LANG: 'C.UTF-8',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: '127.0.0.1',
  }
}
