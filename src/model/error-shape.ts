import * as z from 'zod'
import { ERROR_KINDS, type HawserError } from './errors.ts'
import { openObject } from './shape.ts'

const Details = z.record(z.string(), z.unknown())

const fields = {
  kind: z.enum(ERROR_KINDS),
  message: z.string(),
  details: Details,
}

export const NextAction = openObject(() => ({
  action: z.string(),
  command: z.string().exactOptional(),
}))

/** The error as the CLI's `--json`, HTTP, ACP and MCP show it. */
export const ErrorObject = openObject(() => ({
  ...fields,
  next_actions: z.array(NextAction),
})) satisfies z.ZodType<HawserError>

export const ErrorBody = openObject(() => ({ ok: z.literal(false), error: ErrorObject }))

/** The error as an Event stores it, without empty fields. */
export const LoggedError = openObject(() => ({
  ...fields,
  details: Details.optional(),
  next_actions: z.array(NextAction).optional(),
}))
