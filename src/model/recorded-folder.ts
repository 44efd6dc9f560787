import * as z from 'zod'
import type { FolderIdentity } from './folder-identity.ts'
import { boundedText, openObject } from './shape.ts'

const Digits = z.string().regex(/^\d{1,20}$/)

/** A `FolderIdentity` as files contain it. */
export const RecordedFolder = openObject(() => ({
  path: boundedText(1, 4_096).refine((path) => path.startsWith('/') && !path.includes('\0')),
  dev: Digits,
  ino: Digits,
  born: Digits.optional(),
  boot: boundedText(1, 64).optional(),
})) satisfies z.ZodType<FolderIdentity>
