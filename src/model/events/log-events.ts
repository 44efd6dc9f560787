import * as z from 'zod'
import { Sha256 } from '../ids.ts'
import { Count, list, openObject } from '../shape.ts'

/** `pieces`: set if a repair was itself interrupted and left more than one file. */
export const LogRepaired = openObject(() => ({
  cut_bytes: Count,
  kept_as: z.string(),
  pieces: list(z.string()),
}))

/** The content of the lease file. It is informative only, so any part may be missing. */
export const LockTaken = openObject(() => ({
  previous_holder: openObject(() => ({
    pid: Count.optional(),
    program: z.string().optional(),
    since: z.string().optional(),
  })),
}))

export const Notice = openObject(() => ({
  code: z.string(),
  text: z.string(),
  /** Of the newer surface that it announces. */
  surface_sha256: Sha256.optional(),
}))
