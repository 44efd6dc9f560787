// A process of its own for the contract of frames: answers each line of its input with one line.
import { createInterface } from 'node:readline'
import * as z from 'zod'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { InstanceId } from '../../../src/model/ids.ts'
import { fileFrameStore } from '../../../src/tether/frames/files/file-store.ts'
import type { OpenFrames } from '../../../src/tether/frames/frame-store.ts'

const Entry = z.object({
  seq: z.int(),
  type: z.string(),
  channel: z.string(),
  session: z.string(),
  msgId: z.string(),
  text: z.string(),
})
const Request = z.discriminatedUnion('act', [
  z.object({ act: z.literal('open'), instance: InstanceId }),
  z.object({ act: z.literal('append'), entry: Entry }),
])

const home = await diskFolder(process.argv[2] ?? '')
const store = fileFrameStore({ home, clock: systemClock, ids: systemIds(systemClock) })
let frames: OpenFrames | undefined

for await (const line of createInterface({ input: process.stdin })) {
  const request = Request.parse(JSON.parse(line))
  const answer = request.act === 'open' ? await open(request.instance) : await append(request.entry)
  process.stdout.write(`${answer}\n`)
}

async function open(instance: InstanceId): Promise<string> {
  const opened = await store.open(instance, {
    retention: { fileBytes: 1e9, mostBytes: 2e9, mostAgeMs: 1e15 },
    restore: { begin: () => {}, ended: () => {}, message: () => {}, frame: () => {} },
    messages: () => ({ waiting: [], ended: [] }),
  })
  if (!opened.ok) return opened.error.kind
  frames = opened.value
  return 'open'
}

async function append(entry: z.infer<typeof Entry>): Promise<string> {
  const entries = [{ ...entry, replyTo: undefined }]
  const stored = await frames?.append({ first: entry.seq, entries })
  return stored?.ok === true ? 'stored' : (stored?.error.kind ?? 'not open')
}
