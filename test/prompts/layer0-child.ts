import { writeFileSync } from 'node:fs'
import * as z from 'zod'
import { thawSurface } from '../../src/prompt/surface.ts'
import { sha256 } from '../../src/encoding/hash.ts'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { ok } from '../../src/model/errors.ts'
import { Harness } from '../../src/session/harness.ts'
import { rehearsalProvider } from '../../src/providers/rehearsal/stream.ts'
import { openParts, withChanges, withClock } from '../support/session/harness-parts.ts'
import { value } from '../support/log/story.ts'

/** A child process that starts a Session in its current environment, sends one request, and reports what it sent. */

const Order = z.object({
  root: z.string(),
  /** The time of its clock, in milliseconds; the real time if absent. */
  now: z.number().optional(),
  mode: z.enum(['build', 'plan']),
  permission: z.enum(['read-only', 'ask', 'auto']),
  sandbox: z.boolean(),
})

const { root, now, mode, permission, sandbox } = Order.parse(JSON.parse(process.argv[2] ?? ''))
const sent: Buffer[] = []
const provider = rehearsalProvider({ chunk: 1000, delayMs: 0 })
const { parts: real } = await openParts(root)
const clock = { ...real.log.place.clock, now: () => now ?? Date.now() }
const parts = withChanges(withClock(real, clock), {
  tools: sandbox ? {} : { sandbox: systemSandbox({ program: '/nowhere' }) },
  model: {
    providerOf: async () =>
      ok({
        ...provider,
        stream: (body: Buffer, signal: AbortSignal) => {
          sent.push(body)
          return provider.stream(body, signal)
        },
      }),
  },
})
const options = { provider: 'rehearsal', model: 'rehearsal', mode, permissionMode: permission }
const session = value(await new Harness(parts).create(options))
value(await value(await session.admit('Good morning.')).done)

const recorded = session.events.find((event) => event.type === 'prompt_surface')
const stored = recorded && value(await parts.log.store.get(recorded.data.blob))
const surface = stored && thawSurface(stored)
const request = session.events.find((event) => event.type === 'provider_request')
const segments = surface === undefined ? [] : provider.encode([], surface)
const body = provider.buildBody(segments, { cacheKey: '', marks: [] })
const last = segments.at(-1)?.bytes ?? body
const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions()
const report = {
  contract_version: request?.data.contract_version,
  recorded: recorded?.data.layer0_sha256,
  layer0: sha256(surface?.system[0] ?? ''),
  segments: sha256(Buffer.concat(segments.map(({ bytes }) => bytes))),
  blob: recorded?.data.blob,
  // The beginning of a body, up to its first item.
  surface: body.subarray(0, body.lastIndexOf(last) + last.length).toString('base64'),
  body: sent[0]?.toString('base64'),
  cache_key: request?.data.cache_key,
  late: session.events.find((event) => event.type === 'late_context')?.data,
  actual: {
    cwd: process.cwd(),
    uid: process.getuid?.(),
    home: process.env['HOME'],
    locale,
    timeZone,
  },
}
writeFileSync(1, `${JSON.stringify(report)}\n`)
