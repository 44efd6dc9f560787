import { Hono } from 'hono'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../../model/limits.ts'
import { answerFailure, type RequestVariables } from './exchange/answer.ts'
import type { ServerParts } from './server-parts.ts'

/** What this server accepts and which models it knows. */
export function catalogueRoutes({ models }: ServerParts): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  routes.get('/limits', (context) =>
    context.json({
      ok: true,
      limits: LIMITS,
      attachmentTypes: Object.keys(ATTACHMENT_EXTENSIONS),
    }),
  )
  routes.get('/models', async (context) => {
    const known = await models()
    if (!known.ok) return answerFailure(context, known.error)
    return context.json({ ok: true, ...known.value })
  })
  return routes
}
