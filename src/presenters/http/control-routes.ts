import { isSecret } from '../../host/server/secret.ts'
import { failed, ok } from '../../model/errors.ts'
import { route } from './exchange/route.ts'
import { ControlBody } from './protocol.ts'
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
]

const NOT_HERE = failed('permission_denied', 'This request is for another process.')
