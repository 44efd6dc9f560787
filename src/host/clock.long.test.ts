import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { bundleScript } from '../../test/support/host/bundle-script.ts'
import { freshFolder } from '../../test/support/host/folder.ts'
import { startLong } from './process/long-program.ts'

const TIMER_MS = 1_000
const PAUSE_MS = 1_500
const Report = z.object({ ms: z.int(), runningMs: z.int() })

/** More than a socket buffers: the length of the pause arrives some reads after the process was continued. */
const BACKLOG = '\n'.repeat(4_000_000)

test.each([
  ['at once', ''],
  ['after a backlog', BACKLOG],
])(
  'a timer that became due in a pause fires later, if the length is reported %s',
  async (_, before) => {
    const child = new URL('../../test/support/host/paused-clock-child.ts', import.meta.url)
    const script = await bundleScript(child, await freshFolder())
    let output = ''
    let heard = () => {}
    const started = await startLong({
      argv: [process.execPath, script, String(TIMER_MS)],
      folder: '/',
      env: {},
      errors: 'merged',
      wrappers: 0,
      sockets: 1,
      onOutput: (chunk) => {
        output += chunk.toString()
        heard()
      },
    })
    if (!started.ok) throw new Error(started.error.message)
    const program = started.value
    onTestFinished(() => program.stop(0))
    while (!output.includes('up')) await new Promise<void>((resolve) => void (heard = resolve))
    expect(await program.pause()).toMatchObject({ ok: true })
    program.sockets[0]?.write(before)
    await new Promise<void>((resolve) => void setTimeout(resolve, PAUSE_MS))
    const resumed = await program.resume((ms) => void program.sockets[0]?.write(`${ms}\n`))
    expect(await program.exit).toMatchObject({ code: 0 })
    const { ms, runningMs } = Report.parse(JSON.parse(output.replace('up\n', '')))
    const pausedMs = resumed.ok ? resumed.value : 0
    expect(pausedMs).toBeGreaterThanOrEqual(PAUSE_MS)
    expect(ms).toBeGreaterThanOrEqual(TIMER_MS)
    // Both clocks are rounded down, and the pause began just before the process stopped.
    expect(runningMs).toBeGreaterThanOrEqual(TIMER_MS + pausedMs - 20)
  },
)
