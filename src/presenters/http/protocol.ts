import * as z from 'zod'
import { ResourceId, SessionId } from '../../model/ids.ts'
import { PermissionMode, SessionMode } from '../../model/modes.ts'

/** What clients send. Unknown fields are refused: a field that is ignored would be a promise not kept. */

const PATH_CHARACTERS = 4096
const NAME_CHARACTERS = 200
const MOST_PATHS = 100

/** Not checked for its form: whether it is absolute is a fact of the platform. */
const FolderPath = z.string().min(1).max(PATH_CHARACTERS)
const Name = z.string().min(1).max(NAME_CHARACTERS)

export const CreateSession = z.strictObject({
  projectRoot: FolderPath,
  mode: SessionMode.optional(),
  permissionMode: PermissionMode.optional(),
  provider: Name.optional(),
  model: Name.optional(),
})

export const CheckAttachments = z.strictObject({
  paths: z.array(z.string().max(PATH_CHARACTERS)).max(MOST_PATHS),
})

export const ListQuery = z.object({ projectRoot: FolderPath })

/** One segment of a path, as a person would name a file. */
export const UploadQuery = z.object({
  name: z
    .string()
    .min(1)
    .max(NAME_CHARACTERS)
    .regex(/^[^/\\\p{Cc}\p{Cf}\u2028\u2029]+$/u)
    .refine((name) => !/^\.{1,2}$|^\.tmp-/.test(name) && Buffer.byteLength(name) <= 255),
})

export const SessionParam = z.object({ id: SessionId })
export const ResourceParam = z.object({ id: SessionId, resource: ResourceId })
