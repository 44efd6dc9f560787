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

/** `name` is a basename: the Log and the model never see where a file lay. */
export const AttachmentError = openObject({
  code: z.enum(ATTACHMENT_CODES),
  name: z.string(),
  reason: z.string(),
  limit: z.number().optional(),
  actual: z.number().optional(),
})
export type AttachmentError = Frozen<z.infer<typeof AttachmentError>>
