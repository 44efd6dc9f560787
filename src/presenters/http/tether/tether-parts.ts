import type { Context } from 'hono'
import type { Tether } from '../../../tether/tether.ts'
import type { LiveParts } from '../exchange/live-response.ts'
import { NoQuery } from './protocol.ts'

/** What the routes of Instances need. */
export interface TetherParts extends LiveParts {
  readonly tether: Tether
}

/** The parameters of a request. One that occurs twice is an error, except `types`. */
export function parameters({ req }: Context): Readonly<Record<string, unknown>> {
  const given = Object.entries(req.queries()).map(([name, values]) => {
    if (name === 'types') return [name, values.join(',')] as const
    return [name, values.length === 1 ? values[0] : values] as const
  })
  return Object.fromEntries(given)
}

/** Of a request without parameters. */
export const NO_PARAMETERS = { query: NoQuery, parameters } as const
