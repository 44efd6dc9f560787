import { Hono } from 'hono'
import { isSecret } from '../../host/server/secret.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { answerFailure, answerResult, type RequestVariables } from './exchange/answer.ts'
import { ControlBody } from './protocol.ts'
import { jsonBody } from './exchange/request-body.ts'
import type { ServerParts } from './server-parts.ts'

/** For the command line of this home, which reads `control` from the record of this process. Not part of the API. */
export function controlRoutes({ control, codes, onStop }: ServerParts): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  const permitted = async (request: Request): Promise<Result<void>> => {
    const body = await jsonBody(request, ControlBody)
    if (!body.ok) return body
    return isSecret(body.value.control, control) ? ok(undefined) : NOT_HERE
  }
  routes.post('/page', async (context) => {
    const asked = await permitted(context.req.raw)
    if (!asked.ok) return answerFailure(context, asked.error)
    return answerResult(context, ok({ code: codes.issue() }))
  })
  routes.post('/stop', async (context) => {
    const asked = await permitted(context.req.raw)
    if (!asked.ok) return answerFailure(context, asked.error)
    onStop()
    return answerResult(context, ok({ stopping: true }))
  })
  return routes
}

const NOT_HERE = failed('permission_denied', 'This request is for another process.')
