import * as z from 'zod'
import { Redactor } from '../../../encoding/redaction.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import { ok, type Result } from '../../../model/errors.ts'
import { answer } from '../world/answer.ts'
import type { CommandInput, Run } from '../world/command.ts'
import type { REHEARSE } from '../definitions/server.ts'
import { EXIT } from '../world/exit-code.ts'
import { wholeNumber } from '../input/whole-number.ts'
import { visibleLine } from '../text/visible-text.ts'
import { untilStopped } from '../world/until-stopped.ts'
import { secretsOf } from '../../../session/settings/credentials.ts'
import type { RehearsalServer } from '../../../session/workspace/rehearsal-server.ts'
import type { CliWorld } from '../world/world.ts'

export const Output = z.object({
  ok: z.literal(true),
  origin: z.url().describe('Where it listens.'),
  base_urls: z
    .object({ anthropic: z.url(), openai: z.url() })
    .describe("Base URLs for the vendors' own clients."),
  environment: z
    .record(z.string(), z.string())
    .describe('Environment variables that point such clients here. Any key works.'),
  switches: z
    .array(z.string())
    .describe(
      'Faults that can be requested in the first path segment, for example /~cut:300; and strict, which refuses every unknown field.',
    ),
})
type RehearseOutput = Omit<z.infer<typeof Output>, 'ok'>

/** Serves the offline demo model until a signal, which is the regular way to stop it. */
export const run: Run<typeof REHEARSE> = async (world, { options }) => {
  const listening = await listen(world, options)
  if (!listening.ok) return listening
  const server = listening.value
  const output = outputOf(server, options.strict)
  const stopped = untilStopped(world)
  answer(world, output, () => words(output))
  await stopped
  await server.close()
  return ok(EXIT.done)
}

async function listen(
  { rehearsal, streams, env }: CliWorld,
  { port, cacheRate, json }: CommandInput<typeof REHEARSE>['options'],
): Promise<Result<RehearsalServer>> {
  const place = wholeNumber(port, '--port', 65_535)
  if (!place.ok) return place
  const rate = wholeNumber(cacheRate, '--cache-rate', 1_000_000)
  if (!rate.ok) return rate
  const redactor = new Redactor(secretsOf(env, {}))
  return rehearsal({
    ...definedFields({ port: place.value, cacheRate: rate.value }),
    onRequest: ({ method, path, status, reason }) => {
      if (json) return
      const outcome = status === 0 ? 'hung up' : String(status)
      const why = reason === undefined ? '' : `: ${reason}`
      const line = redactor.text(`${method} ${path} ${outcome}${why}`)
      streams.stderr.write(`${visibleLine(line)}\n`)
    },
  })
}

/** Too short to be redacted as a secret, which would also redact this word elsewhere. */
const ANY_KEY = 'offline'

function outputOf({ origin, switches }: RehearsalServer, strict: boolean): RehearseOutput {
  const base = strict ? `${origin}/~strict` : origin
  return {
    origin,
    base_urls: { anthropic: base, openai: `${base}/v1` },
    environment: {
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_API_KEY: ANY_KEY,
      OPENAI_BASE_URL: `${base}/v1`,
      OPENAI_API_KEY: ANY_KEY,
    },
    switches: [...switches],
  }
}

function words({ origin, environment, switches }: RehearseOutput): string {
  const lines = Object.entries(environment).map(([name, value]) => `  export ${name}=${value}`)
  return [
    `The offline demo model is listening on ${origin}. Press Ctrl-C to stop.`,
    'It speaks Anthropic Messages, OpenAI Responses (also over WebSockets) and Chat Completions.',
    'Any API key works:',
    '',
    ...lines,
    '',
    'A request is checked as the vendors check it: unknown fields are accepted under a beta header.',
    'To have every unknown field refused, or to test how a client handles faults, name switches in',
    'the base URL (or as ?rehearse=… in a URL, or in an x-rehearse header):',
    '',
    `  export ANTHROPIC_BASE_URL=${origin}/~strict`,
    `  export ANTHROPIC_BASE_URL=${origin}/~cut:300,once`,
    '',
    'Switches:',
    ...switches.map((one) => `  ${one}`),
    '',
  ].join('\n')
}
