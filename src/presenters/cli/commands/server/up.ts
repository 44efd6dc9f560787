import { join } from 'node:path'
import * as z from 'zod'
import type { ServerRecord } from '../../../../host/server/server-lock.ts'
import { startServer } from '../../../../host/server/start-server.ts'
import { closing } from '../../../../host/files/files.ts'
import { ErrorBody } from '../../../../model/error-shape.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { definedFields } from '../../../../model/fields/defined-fields.ts'
import { parseJson } from '../../../../encoding/json.ts'
import { wholeNumber } from '../../input/whole-number.ts'
import { failureAsText } from '../../world/failure.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { UP } from '../../definitions/server.ts'
import { EXIT } from '../../world/exit-code.ts'
import { untilStopped } from '../../world/until-stopped.ts'
import type { CliWorld } from '../../world/world.ts'
import { openPage, PageOutput, pageWords, runningPage } from './page.ts'

export const Output = z.object({
  ok: z.literal(true),
  origin: z.url().describe('Where it listens for HTTP.'),
  socket: z.string().optional().describe('The socket on which it serves the same.'),
  token_file: z.string().describe('The file with the token that requests need.'),
  pid: z.int().describe('Its process.'),
  ...PageOutput.shape,
})
type UpOutput = Omit<z.infer<typeof Output>, 'ok'>

/** Serves until a signal, which is the regular way to stop it; in the background, returns when the server is ready. */
export const run: Run<typeof UP> = async (world, { options }) => {
  const { port: text, background, open } = options
  const port = wholeNumber(text, '--port', 65_535)
  if (!port.ok) return port
  const running = open ? await runningPage(world) : ok(undefined)
  if (!running.ok) return running
  if (running.value !== undefined) {
    const { record, page } = running.value
    const output = { ...outputOf(world, record), ...page }
    return answer(world, output, () => words(output, BACKGROUND))
  }
  if (background) {
    const started = await inBackground(world, port.value)
    if (!started.ok) return started
    const opened = open ? await runningPage(world) : ok(undefined)
    if (!opened.ok) return opened
    const output = { ...started.value, ...opened.value?.page }
    return answer(world, output, () => words(output, BACKGROUND))
  }
  const stopped = untilStopped(world)
  const serving = await world.serve({ port: port.value })
  if (!serving.ok) return serving
  const server = serving.value
  if (server.withoutSocket !== undefined) {
    world.streams.stderr.write(failureAsText({ error: server.withoutSocket }))
  }
  const page = open ? await openPage(world, server.record.origin, server.pageCode()) : {}
  const output = { ...outputOf(world, server.record), ...page }
  answer(world, output, () => words(output, FOREGROUND))
  await Promise.race([stopped, aborted(server.stopRequested)])
  await server.close()
  return ok(EXIT.done)
}

/** Resolves when the signal aborts, which may be before the server was announced here. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve())
  })
}

const FOREGROUND = 'Press Ctrl-C to stop.'
const BACKGROUND = 'To stop it: hawser down'

function outputOf({ home }: CliWorld, { origin, socket, pid }: ServerRecord): UpOutput {
  const token_file = join(home, 'token')
  return { origin, ...definedFields({ socket }), token_file, pid }
}

function words({ origin, socket, token_file, page_url, opened }: UpOutput, last: string): string {
  const places = socket === undefined ? origin : `${origin} and ${socket}`
  return [
    `Hawser is listening on ${places}, on this machine only. ${last}`,
    `Requests need the token in ${token_file}:`,
    '',
    // As an argument of curl, the token would be visible to other users.
    `  curl -H @<(echo "Authorization: Bearer $(cat ${token_file})") ${origin}/api/harness/limits`,
    '',
    ...(page_url === undefined ? [] : [pageWords(opened === true), '', `  ${page_url}`, '']),
  ].join('\n')
}

/** The same command as a process of its own; its JSON says that it is ready, or why not. */
async function inBackground(
  { openHome, env }: CliWorld,
  port: number | undefined,
): Promise<Result<UpOutput>> {
  const opened = await openHome()
  if (!opened.ok) return opened
  const { folder, close } = opened.value
  const line = await closing({ close }, () => startServer({ home: folder, env, port }))
  if (!line.ok) return line
  const said = parseJson(line.value)
  const { data } = Output.safeParse(said)
  if (data !== undefined) return ok(data)
  const refused = ErrorBody.safeParse(said).data
  return refused ?? failed('internal', 'The server did not report that it is ready.')
}
