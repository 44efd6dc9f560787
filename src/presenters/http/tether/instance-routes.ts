import { Hono } from 'hono'
import { ok } from '../../../model/errors.ts'
import { INSTANCE_ACTS } from '../../../tether/tether.ts'
import { answerFailure, type RequestVariables } from '../exchange/answer.ts'
import { emptyBody, jsonBody } from '../exchange/request-body.ts'
import { CreateInstance, CreateQuery, MapInstance, NoQuery } from './protocol.ts'
import { answerTether, queryOf, type TetherParts } from './tether-parts.ts'

/** Creates, lists, shows, maps, controls and deletes Instances. `:id` is an id or a handle. */
export function instanceRoutes({ tether }: TetherParts): Hono<RequestVariables> {
  const routes = new Hono<RequestVariables>()
  routes.post('/instances', async (context) => {
    const query = queryOf(context, CreateQuery)
    if (!query.ok) return answerFailure(context, query.error)
    const body = await jsonBody(context.req.raw, CreateInstance)
    if (!body.ok) return answerFailure(context, body.error)
    return answerTether(context, await tether.create(body.value, query.value.by), 201)
  })
  routes.get('/instances', async (context) => {
    const query = queryOf(context, NoQuery)
    if (!query.ok) return answerFailure(context, query.error)
    const listed = await tether.list()
    return answerTether(context, listed.ok ? ok({ instances: listed.value }) : listed)
  })
  routes.get('/instances/:id', async (context) => {
    const query = queryOf(context, NoQuery)
    if (!query.ok) return answerFailure(context, query.error)
    return answerTether(context, await tether.info(context.req.param('id')))
  })
  routes.patch('/instances/:id', async (context) => {
    const query = queryOf(context, NoQuery)
    if (!query.ok) return answerFailure(context, query.error)
    const body = await jsonBody(context.req.raw, MapInstance)
    if (!body.ok) return answerFailure(context, body.error)
    return answerTether(context, await tether.map(context.req.param('id'), body.value.workspace))
  })
  routes.delete('/instances/:id', async (context) => {
    const query = queryOf(context, NoQuery)
    if (!query.ok) return answerFailure(context, query.error)
    const deleted = await tether.delete(context.req.param('id'))
    return answerTether(context, deleted.ok ? ok({ deleted: deleted.value }) : deleted)
  })
  for (const act of INSTANCE_ACTS) {
    routes.post(`/instances/:id/${act}`, async (context) => {
      const query = queryOf(context, NoQuery)
      if (!query.ok) return answerFailure(context, query.error)
      const body = await emptyBody(context.req.raw)
      if (!body.ok) return answerFailure(context, body.error)
      return answerTether(context, await tether.act(context.req.param('id'), act))
    })
  }
  return routes
}
