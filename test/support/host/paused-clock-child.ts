import { Socket } from 'node:net'
import { countPauses, leaveOut, systemClock } from '../../../src/host/clock.ts'

/**
 * A child process with one timer. Descriptor 4 carries lines with the milliseconds that it was paused. When the timer fires, it
 * prints how long that took, by the clock that leaves pauses out and by the one that does not.
 */
const TIMER_MS = Number(process.argv[2])

countPauses()
let text = ''
const socket = new Socket({ fd: 4 })
socket.setEncoding('utf8').on('data', (chunk: string) => {
  text += chunk
  const lines = text.split('\n')
  text = lines.pop() ?? ''
  for (const line of lines) if (line !== '') leaveOut(Number(line))
})
const started = systemClock.monotonicMs()
const running = process.hrtime.bigint()
systemClock.after(TIMER_MS, () => {
  const ms = systemClock.monotonicMs() - started
  const runningMs = Number((process.hrtime.bigint() - running) / 1_000_000n)
  console.log(JSON.stringify({ ms, runningMs }))
  socket.destroy()
})
console.log('up')
