// One measurement of scan.bench.ts: `ours` reads the Log at a place once, `floor` only parses its lines.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { logName } from '../src/log/files/names.ts'
import { openReader } from '../src/log/reader.ts'
import { SessionId } from '../src/model/ids.ts'
import { diskPlace } from '../test/support/log/disk-place.ts'
import { value } from '../test/support/log/story.ts'
import { countingPlace } from './counting-folder.ts'
import { cpuTimed, timed } from './figure.ts'
import { peakDuring } from './memory.ts'
import { SESSIONS } from './scratch.ts'

const CHUNK_BYTES = 256 * 1024

const [mode, path = '', id] = process.argv.slice(2)
const session = SessionId.parse(id)
const { place } = await diskPlace(path)

let lines = 0
const tally = { bytesRead: 0 }
let ms = 0
let cpu_ms = 0
const memory = await peakDuring(async () => {
  cpu_ms = await cpuTimed(async () => {
    ms = await timed(mode === 'ours' ? scanWhole : parseWhole)
  })
})
console.log(JSON.stringify({ ms, cpu_ms, lines, bytes_read: tally.bytesRead, ...memory }))

async function scanWhole(): Promise<void> {
  const reader = value(await openReader(countingPlace(place, tally), session))
  const { damage } = value(await reader.forward(() => void (lines += 1)))
  await reader.close()
  if (damage !== undefined) throw new Error(damage.message)
}

async function parseWhole(): Promise<void> {
  const file = await open(join(path, SESSIONS, logName(session)))
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let carry = Buffer.alloc(0)
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES)
    if (bytesRead === 0) break
    tally.bytesRead += bytesRead
    const bytes = Buffer.concat([carry, chunk.subarray(0, bytesRead)])
    let from = 0
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
      JSON.parse(bytes.toString('utf8', from, at))
      lines += 1
      from = at + 1
    }
    carry = bytes.subarray(from)
  }
  await file.close()
}
