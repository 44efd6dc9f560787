// An agent without a network and without a key answers from pixels, in every dialect, and still does after a restart.
import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { systemClock } from '../../../src/host/clock.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { openRelay } from '../../../src/tether/relay/relay.ts'
import { NO_SPEND, type Spend } from '../../../src/tether/relay/rules.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { guestProgram, removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { playGuest } from '../../support/tether/guest-play.ts'
import { instanceFolders } from '../../support/tether/guest-program.ts'
import { putImage } from '../../support/tether/guest-scene.ts'
import { kinPids, tracesOf } from '../../support/host/kin-traces.ts'
import { openRehearsal } from '../../support/providers/rehearsal-server.ts'
import { accessTo, PRICES, PROVIDER_OF } from '../../support/tether/relay-place.ts'
import { picture } from '../../support/resources/sample-files.ts'
import { value } from '../../support/log/story.ts'
import { onlyRecords } from '../../support/session/records.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

test.runIf(canNest).each(VENDOR_DIALECTS)(
  '%s: a guest answers from pixels through the relay, and so does the next one of the next server [TI-073]',
  async (dialect) => {
    const root = await freshFolder()
    const { ownHome } = await instanceFolders(root)
    const vendor = await openRehearsal()
    const access = accessTo(dialect, vendor.baseUrl(dialect))
    const spends: Spend[] = []
    const lines: string[] = []
    const play = () =>
      playGuest({
        root,
        start: { provider: PROVIDER_OF[dialect], model: 'model' },
        relay: (socket) =>
          openRelay(socket, {
            access,
            models: ['model'],
            spentBefore: spends.at(-1) ?? NO_SPEND,
            onSpend: (total) => void spends.push(total),
            clock: systemClock,
            log: (line) => void lines.push(line),
          }),
      })
    const pixels = picture(3)
    const image = await putImage(root, pixels, 'inst_1')
    const first = await play()
    value(first.send('m1', 'What do you see?', [image]))
    const seen = (await first.ended('m1')).payload
    expect(seen).toMatchObject({ status: 'completed', text: expect.stringContaining('picture') })
    expect(vendor.requests[0]?.bytes.includes(pixels.toString('base64'))).toBe(true)

    // What runs inside has no network: neither the guest nor its commands.
    const { port } = new URL(vendor.origin)
    value(first.send('m2', `Run \`(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>&1 | tee net.txt\``))
    await first.ended('m2')
    expect(await readFile(join(first.workspace, 'net.txt'), 'utf8')).toMatch(/unreachable|refused/)
    const kin = kinPids(first.host.pid)
    const networks = await Promise.all(kin.map((pid) => readlink(`/proc/${pid}/ns/net`)))
    const routes = await Promise.all(kin.map((pid) => readFile(`/proc/${pid}/net/route`, 'utf8')))
    const inside = routes.filter((_, at) => networks[at] !== networks[0])
    expect(networks[0]).toBe(await readlink('/proc/self/ns/net'))
    expect([
      inside.length > 0,
      inside.filter((text) => text.trim().split('\n').length > 1),
    ]).toEqual([true, []])
    // Nor is the key anywhere in it.
    const traces = await Promise.all(kin.map((pid) => tracesOf(pid, CANARY_KEY)))
    expect(traces.flatMap(({ found }) => found)).toEqual([])
    // The same search finds what is there.
    const known = await Promise.all(kin.map((pid) => tracesOf(pid, ownHome)))
    expect(known.flatMap(({ found }) => found).join(' ')).toContain('environ')
    if (process.getuid?.() === 0)
      expect(known.flatMap(({ found }) => found).join(' ')).toContain('memory')
    expect(await grep(CANARY_KEY, first.workspace, ownHome)).toBe('')
    expect(await grep('What do you see?', first.workspace, ownHome)).toContain('.ndjson')
    expect(lines.join('\n')).not.toContain(CANARY_KEY)

    // A socket to the provider is declined, and the Log has the reason.
    const declined = await grep(
      '"reset_reason":"relayed"',
      join(await onlyRecords(first.workspace), 'sessions'),
    )
    expect(declined !== '').toBe(dialect === 'responses')

    // Another server, in another process, and another guest.
    await first.host.stop()
    const before = vendor.requests.length
    const next = await nextDaemon({
      root,
      provider: PROVIDER_OF[dialect],
      baseUrl: vendor.baseUrl(dialect),
      spent: spends.at(-1) ?? NO_SPEND,
      prices: PRICES,
      text: 'What happened?',
    })
    expect(next.payload).toMatchObject({ status: 'completed' })
    expect(vendor.requests[before]?.bytes.includes(pixels.toString('base64'))).toBe(true)
    expect(vendor.violations).toEqual([])
    expect(next.spend.calls).toBe(vendor.requests.length)
    await vendor.close()
  },
)

/** Runs the server of `next-daemon-child.ts`, with its orders. */
async function nextDaemon(orders: object) {
  const child = new URL('next-daemon-child.ts', import.meta.url)
  const script = await bundleScript(child, await freshFolder())
  const { argv, readable } = await guestProgram()
  const all = JSON.stringify({ ...orders, program: argv, readable })
  const env = { ...process.env, KEY_OF_THE_TEST: CANARY_KEY }
  const { stdout } = await promisify(execFile)(process.execPath, [script, all], { env })
  return Ending.parse(JSON.parse(stdout))
}

const Ending = z.object({ payload: z.unknown(), spend: z.object({ calls: z.number() }) })

/** The files below these folders that contain a text. */
async function grep(text: string, ...folders: readonly string[]): Promise<string> {
  const found = await promisify(execFile)('grep', ['-rFl', text, ...folders]).catch(() => undefined)
  return found?.stdout ?? ''
}
