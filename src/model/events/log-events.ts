import * as z from 'zod'
import { Count, list, openObject } from '../shape.ts'

/** `pieces` when a repair was itself interrupted and left more than one. */
export const LogRepaired = openObject({
  cut_bytes: Count,
  kept_as: z.string(),
  pieces: list(z.string()),
})

/** What the lease file said. It only informs, so any part of it may be missing. */
export const LockTaken = openObject({
  previous_holder: openObject({
    pid: Count.optional(),
    program: z.string().optional(),
    since: z.string().optional(),
  }),
})

export const Notice = openObject({ code: z.string(), text: z.string() })
