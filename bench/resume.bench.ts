// Continuing a long Session without a checkpoint, with a real provider over HTTP: the built program until a server has received
// its complete first request, relative to a new Session.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { full, median, medianRatio, tell } from './figure.ts'
import { builtProgram, said } from './program.ts'
import { inScratch } from './scratch.ts'
import { firstRequest, placeOf, PROVIDERS, READ_FILE, workspaceWith } from './vendor-start.ts'
import { vendor, type Vendor } from './vendor.ts'

const ROUNDS = full ? 25 : 5
/** Round trips of a Turn of the maximum length. */
const CALLS_A_TURN = 99
/** Both requests have about a megabyte: small reads lead to many Events, large ones to few. */
const SESSIONS = [
  { readBytes: 300, turns: full ? 16 : 2, bar: '<= 1.5' },
  { readBytes: 8_000, turns: 1, bar: '<= 1.25' },
] as const

const program = await builtProgram()

await inScratch(async (folder) => {
  const server = await vendor(folder, READ_FILE)
  try {
    await measure(folder, server)
  } finally {
    server.close()
  }
})

async function measure(folder: string, server: Vendor): Promise<void> {
  const url = server.baseUrl('messages', 0, 'start')
  const place = placeOf(folder, await workspaceWith(folder, 0), url)
  const args = [program, 'run', 'What?', '--json', '--provider', PROVIDERS.messages]
  const start = () => firstRequest(args, place, url, server)
  const long: Awaited<ReturnType<typeof longSession>>[] = []
  for (const session of SESSIONS) long.push(await longSession(folder, session, server))
  // Warm up: reading the program's files for the first time is not measured.
  await start()
  const fresh: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    fresh.push((await start()).ms)
    for (const { ms, resume } of long) ms.push((await resume()).ms)
  }
  for (const { ms, readBytes, trips, requestBytes, logBytes, bar } of long) {
    tell({
      bench: `resume: start to first request of an old Session with reads of ${readBytes} bytes, relative to a new one`,
      ratio: medianRatio(ms, fresh),
      bar,
      more: {
        ms: median(ms),
        new_ms: median(fresh),
        request_bytes: requestBytes,
        log_bytes: logBytes,
        round_trips: trips,
      },
    })
  }
}

/** A Session of Turns of the maximum length, whose round trips each read `readBytes` bytes. */
async function longSession(
  folder: string,
  { readBytes, turns, bar }: (typeof SESSIONS)[number],
  server: Vendor,
) {
  const workspace = await workspaceWith(folder, readBytes)
  const url = server.baseUrl('messages', CALLS_A_TURN, `long-${readBytes}`)
  const resumeUrl = server.baseUrl('messages', 0, `resume-${readBytes}`)
  const place = placeOf(folder, workspace, url)
  const resumePlace = placeOf(folder, workspace, resumeUrl)
  const ask = [program, 'run', 'Read the notes.', '--json']
  const began = await said([...ask, '--provider', PROVIDERS.messages], place)
  const id = /"session_id":"(\w+)"/.exec(began)?.[1] ?? ''
  const goOn = [...ask, '--session', id]
  for (let turn = 1; turn < turns; turn += 1) await said(goOn, place)
  const resume = () => firstRequest(goOn, resumePlace, resumeUrl, server)
  const { bytes: requestBytes } = await resume()
  const log = await readFile(join(workspace, '.hawser', 'sessions', `${id}.ndjson`))
  const ms: number[] = []
  const trips = turns * CALLS_A_TURN
  return { ms, resume, readBytes, trips, requestBytes, logBytes: log.length, bar }
}
