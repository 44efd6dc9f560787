import { isSecret } from '../../host/server/secret.ts'
import { failed, ok } from '../../model/errors.ts'
import { route } from './exchange/route.ts'
import { ControlBody, TelegramControl } from './protocol.ts'
import type { ServerParts } from './server-parts.ts'

/** For the command line of this home, which reads `control` from the record of this process. Not part of the API. */
export const CONTROL_ROUTES = [
  route('POST /control/page', {
    body: ControlBody,
    open: true,
    handle: ({ control, codes }: ServerParts, { body }) =>
      isSecret(body.control, control) ? ok({ code: codes.issue() }) : NOT_HERE,
  }),
  route('POST /control/stop', {
    body: ControlBody,
    open: true,
    handle: ({ control, onStop }: ServerParts, { body }) => {
      if (!isSecret(body.control, control)) return NOT_HERE
      onStop()
      return ok({ stopping: true })
    },
  }),
  route('POST /control/telegram', {
    body: TelegramControl,
    open: true,
    handle: async ({ control, telegram }: ServerParts, { body }) => {
      if (!isSecret(body.control, control)) return NOT_HERE
      if (body.reload === 'yes') await telegram.reload()
      const chat = body.code === undefined ? undefined : telegram.find(body.code)
      return ok({ ...telegram.state(), ...(chat === undefined ? {} : { found: chat }) })
    },
  }),
]

const NOT_HERE = failed('permission_denied', 'This request is for another process.')
