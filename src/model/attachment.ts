import * as z from 'zod'
import { openObject, type Frozen } from './shape.ts'

/** Why one attachment was refused while its Turn went on. */
export const ATTACHMENT_CODES = [
  'not_absolute',
  'invalid_name',
  'unsupported_type',
  'not_found',
  'unreadable',
  'not_regular_file',
  'symlink',
  'too_large',
  'budget_exceeded',
  'type_mismatch',
  'empty',
  'too_many_pixels',
  'encrypted',
  'corrupt',
  'changed_while_read',
  'outside_workspace',
  'hard_link',
  'link_refused',
  'timeout',
] as const

export type AttachmentCode = (typeof ATTACHMENT_CODES)[number]

/** One thing that somebody gives to be attached. Nothing it says of itself decides anything. */
export type AttachmentInput =
  /** An absolute path of this machine. Whatever a client sent: that it is a string is checked, too. */
  | { readonly from: 'path'; readonly path: unknown }
  /** Bytes that are here already, as from a pipe. The name is judged like that of a file. */
  | { readonly from: 'bytes'; readonly name: string; readonly bytes: Buffer }
  /** A `file:` link is read like a path; any other is described and never fetched. */
  | {
      readonly from: 'link'
      readonly uri: string
      readonly name?: string
      readonly title?: string
      readonly description?: string
      readonly declared_media_type?: string
      readonly declared_size_bytes?: number
    }

/** `name` is a basename: the Log and the model never see where a file lay. */
export const AttachmentError = openObject({
  code: z.enum(ATTACHMENT_CODES),
  name: z.string(),
  reason: z.string(),
  limit: z.number().optional(),
  actual: z.number().optional(),
})
export type AttachmentError = Frozen<z.infer<typeof AttachmentError>>
