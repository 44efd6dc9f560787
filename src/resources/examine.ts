import { isAbsolute, normalize, relative } from 'node:path/posix'
import type { ConfinedFiles } from '../host/files/confined-files.ts'
import { withOutsideFile, type OutsideFiles } from '../host/files/outside-file.ts'
import type { ResourceFacts } from '../model/descriptor.ts'
import { ok } from '../model/errors.ts'
import type { BlobMediaType } from '../model/ids.ts'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../model/limits.ts'
import { extensionOf, nameOffence } from './attachment-name.ts'
import type { Patience } from '../host/wait.ts'
import { probe, type AttachmentType, type ProbeResult } from './probe.ts'
import {
  changedWhileRead,
  overBudget,
  refusal,
  throughLink,
  attachmentTooLarge,
  unreadableFile,
  unsupportedType,
  type Refusal,
} from './refusal.ts'
import type { Labels, ReadInput } from './attachment-source.ts'

/** The state shared by the attachments of one Turn while they are read. */
export interface FileReading {
  readonly files: OutsideFiles
  readonly workspaceFiles: ConfinedFiles | undefined
  readonly otherTypes: 'refuse' | 'store'
  /** The number of bytes accepted so far. */
  takenBytes: number
  /** A buffer for the next file: each file is checked and stored before the next is read. */
  memory: Buffer | undefined
}

/** An acceptable attachment. Its bytes are valid until the next one is examined. */
export interface ExaminedFile {
  readonly name: string
  readonly bytes: Buffer
  readonly media_type: BlobMediaType
  readonly probe: ProbeResult | { readonly kind: 'file' }
  readonly labels: Labels
}

/** Runs every check in the documented order and stops at the first failure. */
export async function examine(
  { name, is }: ReadInput,
  reading: FileReading,
  patience: Patience,
): Promise<ExaminedFile | { readonly facts: ResourceFacts } | Refusal> {
  if ('refusal' in is) return is.refusal
  if ('facts' in is) return is
  const offence = nameOffence('path' in is ? is.path : name)
  if (offence !== undefined) return offence
  const type = typeOf(name)
  if (type === undefined && reading.otherTypes === 'refuse')
    return unsupportedType(extensionOf(name))
  const bytes =
    'bytes' in is ? limitBytes(is.bytes, reading) : await readSource(is.path, reading, patience)
  if ('code' in bytes) return bytes
  if (bytes.length === 0) return refusal('empty', 'it is empty')
  const { labels } = is
  if (type === undefined) return { name, bytes, media_type: OTHER, probe: { kind: 'file' }, labels }
  const probed = await probe(bytes, type, patience)
  return 'code' in probed
    ? probed
    : { name, bytes, media_type: type.media_type, probe: probed, labels }
}

const OTHER = 'application/octet-stream'

/** By the last extension, case-insensitive. */
function typeOf(name: string): AttachmentType | undefined {
  const extension = extensionOf(name).toLowerCase()
  return isAllowed(extension) ? ATTACHMENT_EXTENSIONS[extension] : undefined
}

function isAllowed(extension: string): extension is keyof typeof ATTACHMENT_EXTENSIONS {
  return Object.hasOwn(ATTACHMENT_EXTENSIONS, extension)
}

function limitBytes(bytes: Buffer, reading: FileReading): Buffer | Refusal {
  return tooMuch(bytes.length, reading) ?? bytes
}

async function readSource(
  path: string,
  reading: FileReading,
  { signal }: Patience,
): Promise<Buffer | Refusal> {
  if (reading.workspaceFiles !== undefined)
    return readConfined(path, reading.workspaceFiles, reading)
  const found = await withOutsideFile<Buffer | Refusal>(reading.files, path, async (file) => {
    const refused = tooMuch(file.size, reading)
    return refused === undefined ? file.read(memoryOf(reading, file.size), signal) : ok(refused)
  })
  return found.ok ? found.value : unreadableFile(found.error)
}

async function readConfined(
  path: string,
  files: ConfinedFiles,
  reading: FileReading,
): Promise<Buffer | Refusal> {
  const file = await files.read(path, LIMITS.attachment_bytes)
  if (!file.ok) return unreadableFile(file.error)
  const { bytes, size, truncated } = file.value
  if (!isDirect(path, file.value.path, files.root)) return throughLink()
  const refused = tooMuch(truncated ? Math.max(size, LIMITS.attachment_bytes + 1) : size, reading)
  if (refused !== undefined) return refused
  return bytes.length === size ? bytes : changedWhileRead()
}

/** Whether a path of the workspace leads to `real` without a link on its way. */
function isDirect(path: string, real: string, root: string): boolean {
  if (!isAbsolute(path)) return normalize(path) === real
  // The root may be spelled in another way.
  return path.startsWith(`${root}/`)
    ? relative(root, path) === real
    : normalize(path).endsWith(`/${real}`)
}

function tooMuch(size: number, { takenBytes }: FileReading): Refusal | undefined {
  if (size > LIMITS.attachment_bytes) return attachmentTooLarge(size)
  return takenBytes + size > LIMITS.turn_attachment_bytes ? overBudget(size, takenBytes) : undefined
}

/** One byte longer than the file, to notice if it grows. The buffer of a refused file is used again. */
function memoryOf(reading: FileReading, size: number): Buffer {
  if (reading.memory === undefined || reading.memory.length <= size)
    reading.memory = Buffer.allocUnsafeSlow(size + 1)
  return reading.memory.subarray(0, size + 1)
}
