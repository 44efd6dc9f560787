import * as z from 'zod'
import { serverStatus, type ServerStatus } from '../../../../host/server/server-lock.ts'
import { ok } from '../../../../model/errors.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { STATUS } from '../../definitions/server.ts'
import { EXIT } from '../../world/exit-code.ts'
import { inSettings } from '../../world/settings-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  running: z.boolean(),
  server: z
    .object({
      pid: z.int(),
      version: z.string(),
      since: z.string().describe('When it started, UTC.'),
      origin: z.string(),
      socket: z.string().optional(),
    })
    .optional()
    .describe('Absent if it is not running, or still starting.'),
})

/** Shows the state of the local server. */
export const run: Run<typeof STATUS> = async (world) =>
  inSettings(world, {}, 'none', async ({ home }) => {
    const found = await serverStatus(home)
    if (!found.ok) return found
    const state = found.value
    const server = typeof state === 'object' ? { server: state } : {}
    answer(world, { running: state !== undefined, ...server }, () => words(state))
    return ok(state === undefined ? EXIT.failed : EXIT.done)
  })

function words(state: ServerStatus): string {
  if (state === undefined) return 'The local server is not running. To start it: hawser up\n'
  if (state === 'starting') return 'The local server is starting.\n'
  const { origin, socket, pid, since, version } = state
  const lines = [
    `The local server is running: ${origin}`,
    ...(socket === undefined ? [] : [`  socket   ${socket}`]),
    `  process  ${pid}, since ${since}`,
    `  version  ${version}`,
  ]
  return `${lines.join('\n')}\n`
}
