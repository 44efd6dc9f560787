import type { INPUT_CHECKS } from './inputs.ts'

export interface ClientOptions {
  /** The client can answer permission questions. While such a client is attached, questions wait. */
  readonly answers?: boolean
}

export interface AttachOptions extends ClientOptions {
  /** Its input comes from a program, which may have no types: what does not match is refused, and so are unknown fields. */
  readonly checks?: typeof INPUT_CHECKS
}
