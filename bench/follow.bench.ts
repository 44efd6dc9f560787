// Another process appends; a follower in this process delivers each Event. Also measures an idle follower.
import { execFile } from 'node:child_process'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod'
import { createLog } from '../src/log/open.ts'
import { openReader } from '../src/log/reader.ts'
import { diskPlace } from '../test/support/log/disk-place.ts'
import { sessionStarted, value } from '../test/support/log/story.ts'
import { textFold } from '../test/support/log/text-fold.ts'
import { bundled } from './bundled.ts'
import { full, median, quantile, tell } from './figure.ts'
import { inScratch } from './scratch.ts'

const EVENTS = full ? 2_000 : 200
const IDLE_MS = 2_000

await inScratch(async (folder) => {
  const worker = await bundled('follow.worker.ts', folder)
  const { place, keep } = await diskPlace(folder)
  const session = place.ids.session()
  const writer = value(await createLog(place, session, [sessionStarted], { fold: textFold, keep }))
  const { cursor } = writer
  await writer.release()

  const stop = new AbortController()
  const reader = value(await openReader(place, session))
  const seen: { asked: number; delivered: number }[] = []
  const following = (async () => {
    for await (const line of reader.follow(cursor, stop.signal)) {
      const { event } = value(line).content
      if (event.type !== 'user_message') continue
      seen.push({ asked: Number(event.data.text), delivered: millis() })
    }
  })()

  // Shortly after its start, a process occasionally has other work to do than the follower's.
  await setTimeout(500)
  const before = process.cpuUsage()
  await setTimeout(IDLE_MS)
  const { user, system } = process.cpuUsage(before)

  const child = await promisify(execFile)(process.execPath, [worker, folder, session, `${EVENTS}`])
  const acknowledged = z.array(z.number()).parse(JSON.parse(child.stdout))
  while (seen.length < acknowledged.length) await setTimeout(10)
  stop.abort()
  await following
  await reader.close()

  // An Event may be delivered before it is acknowledged; its delay is then zero.
  const late = seen.map(({ delivered }, i) => Math.max(0, delivered - (acknowledged[i] ?? 0)))
  const whole = seen.map(({ asked, delivered }) => delivered - asked)
  tell({
    bench: 'follow: p99 ms from acknowledgement to delivery',
    ratio: quantile(late, 0.99),
    bar: '<= 50',
    more: {
      events: seen.length,
      median_ms: median(late),
      max_ms: Math.max(...late),
      median_ms_from_append: median(whole),
      p99_ms_from_append: quantile(whole, 0.99),
    },
  })
  tell({
    bench: 'follow: CPU ms of an idle follower in 2 s',
    ratio: (user + system) / 1000,
    bar: '<= 20',
    more: {},
  })
})

function millis(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
