import type * as z from 'zod'
import type { ResponseName } from './http-responses.ts'

/** One route of the API, as it is described. */
export interface Operation {
  readonly summary: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** The body is the bytes of a file. */
  readonly bytes?: true
  readonly answer: ResponseName | 'events' | 'bytes'
  /** 200 by default. */
  readonly status?: 200 | 201 | 202
  readonly open?: true
}
