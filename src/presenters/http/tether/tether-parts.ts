import type { Context } from 'hono'
import type * as z from 'zod'
import type { Result } from '../../../model/errors.ts'
import type { Tether } from '../../../tether/tether.ts'
import { answerFailure, type RequestVariables } from '../exchange/answer.ts'
import type { LiveParts } from '../exchange/live-response.ts'
import { checkValue } from '../exchange/request-body.ts'

/** What the routes of Instances need. */
export interface TetherParts extends LiveParts {
  readonly tether: Tether
}

export type TetherContext = Context<RequestVariables>

/** The parameters of a request, checked; `instead` replaces some. One that occurs twice is an error, except `types`. */
export function queryOf<T>(
  context: TetherContext,
  schema: z.ZodType<T>,
  instead: Readonly<Record<string, string>> = {},
): Result<T> {
  const given = Object.entries(context.req.queries()).map(([name, values]) => {
    if (name === 'types') return [name, values.join(',')] as const
    return [name, values.length === 1 ? values[0] : values] as const
  })
  return checkValue(schema, { ...Object.fromEntries(given), ...instead })
}

/** Sends what a `Tether` returned: its value as JSON, or its failure. */
export function answerTether<T extends object>(
  context: TetherContext,
  result: Result<T>,
  status: 200 | 201 | 202 = 200,
): Response {
  if (!result.ok) return answerFailure(context, result.error)
  return context.json({ ok: true, ...result.value }, status)
}
