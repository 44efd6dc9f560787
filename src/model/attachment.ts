import * as z from 'zod'
import { openObject, type Frozen } from './shape.ts'

/** Why one attachment was refused while its Turn continued. */
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

/** One attachment as a client sends it. Its declared name, type and size are not trusted. */
export type AttachmentInput =
  /** An absolute path on this machine. Not validated yet: a client may send any type. */
  | {
      readonly from: 'path'
      readonly path: unknown
      /** As a person typed it. */ readonly given?: string
    }
  /** Bytes in memory, for example from a pipe. The name is checked like a file name. */
  | {
      readonly from: 'bytes'
      readonly name: string
      readonly bytes: Buffer
      /** For people and models; decides nothing. */
      readonly description?: string
    }
  /** A blob of the Session's workspace. Refused unless its bytes match every claim. */
  | {
      readonly from: 'blob'
      readonly name: string
      readonly blob: string
      readonly media_type: string
      readonly size: number
    }
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

/** A file or folder of the workspace that a message names, relative to the workspace or absolute. */
export interface MentionInput {
  readonly path: string
  /** As a person typed it. Default: the path. */
  readonly given?: string | undefined
  /**
   * The message also attaches it, so an error would repeat what is said of the attachment. `text`: it is included if it is a
   * text file. `unsaved`: it is included if an editor has unsaved changes of it, which the attachment lacks.
   */
  readonly attachedAs?: 'text' | 'unsaved' | undefined
}

/** `name` is a basename: the Log and the model never see the folder of a file. */
export const AttachmentError = openObject(() => ({
  code: z.enum(ATTACHMENT_CODES),
  name: z.string(),
  reason: z.string(),
  limit: z.number().optional(),
  actual: z.number().optional(),
}))
export type AttachmentError = Frozen<z.infer<typeof AttachmentError>>
