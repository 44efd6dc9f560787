import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  causeOf,
  failed,
  ok,
  withCause,
  type ErrorKind,
  type HawserError,
  type Result,
} from '../../model/errors.ts'
import { OWN_INSTRUCTIONS, type InstructionRefusal } from '../../model/events/instruction-events.ts'
import { systemClock, type Clock } from '../clock.ts'
import type { ConfinedFiles, FileContent } from '../files/confined-files.ts'
import { segmentsOf } from '../files/confined-path.ts'
import { asResult, closing, readSpan, type Folder } from '../files/files.ts'
import { factsAt } from '../files/look.ts'

/** A file with project instructions, or why it cannot be read. */
export interface InstructionFile {
  /** Relative to the workspace, with links resolved; `OWN_INSTRUCTIONS` for that of the person. */
  readonly path: string
  /** Absent if it is refused. */
  readonly bytes?: number
  /** Of the whole content; absent if it is refused, or larger than the limit. */
  readonly sha256?: string
  readonly refusal?: InstructionRefusal
}

/** The files with project instructions of a workspace and of the person. No method throws for the state of the disk. */
export interface InstructionFiles {
  /**
   * The file of the person, and that of each folder, given relative to the workspace with '' for its root: `AGENTS.md`, or
   * `CLAUDE.md` if that is missing or refused. Each once: first that of the person, then a folder before those below it.
   */
  find(folders: readonly string[]): Promise<readonly InstructionFile[]>
  /** The content of a file that was found, if it still has this hash. */
  content(path: string, sha256: string): Promise<Buffer | undefined>
  /** At most `limit` bytes of the file of the person. */
  own(limit: number): Promise<Result<FileContent>>
  /** The folders from the root down to each path, which may be one itself. By text only; nothing for a path outside. */
  foldersTo(paths: readonly string[]): readonly string[]
}

export interface InstructionPlaces {
  readonly files: ConfinedFiles
  /** The workspace as the person spells it. */
  readonly workspace: string
  /** `$HAWSER_HOME`, open. */
  readonly home: Folder
  /** The maximum size of a file that is hashed. */
  readonly limit: number
  readonly clock?: Pick<Clock, 'now'>
}

const NAMES = ['AGENTS.md', 'CLAUDE.md'] as const
const [OWN_NAME] = NAMES

export function instructionFiles(places: InstructionPlaces): InstructionFiles {
  const { files, workspace, home, limit, clock = systemClock } = places
  const known = new Map<string, RememberedFile>()
  const own = (most: number) => ownFile(home, most)
  const read = (path: string) => (path === OWN_INSTRUCTIONS ? own(limit) : files.read(path, limit))
  const examine = (path: string) => {
    const place = path === OWN_INSTRUCTIONS ? join(home.label, OWN_NAME) : join(files.root, path)
    return rememberFile(known, place, clock, () => read(path))
  }
  return {
    find: async (folders) => {
      const found = new Map<string, InstructionFile>()
      const first = await examine(OWN_INSTRUCTIONS)
      if (first !== undefined) found.set(OWN_INSTRUCTIONS, { ...first, path: OWN_INSTRUCTIONS })
      for (const folder of new Set(folders)) {
        for (const name of NAMES) {
          const path = folder === '' ? name : `${folder}/${name}`
          const file = await examine(path)
          if (file === undefined) continue
          found.set(file.path ?? path, { ...file, path: file.path ?? path })
          if (file.refusal === undefined) break
        }
      }
      return [...found.values()].toSorted(inOrder)
    },
    content: async (path, sha256) => {
      const file = await read(path)
      return file.ok && hashOf(file.value.bytes) === sha256 ? file.value.bytes : undefined
    },
    own,
    foldersTo: (paths) => [
      ...new Set(
        paths.flatMap((path) => {
          const segments = segmentsOf(path, [files.root, workspace])
          if (!segments.ok) return []
          return ['', ...segments.value.map((_, at, all) => all.slice(0, at + 1).join('/'))]
        }),
      ),
    ],
  }
}

type ReadInstructions = Omit<InstructionFile, 'path'> & { readonly path?: string }

interface RememberedFile {
  /** Identifies the content, unless it changed within the resolution of the clock of the file system. */
  readonly key: string
  readonly file: ReadInstructions | undefined
}

/**
 * What is at a place; `undefined` if nothing is, or if its folder is not in the workspace. A file that did not change is not
 * read again. Synchronous before that: this runs after every round of tool calls, mostly for files that do not exist.
 */
async function rememberFile(
  known: Map<string, RememberedFile>,
  place: string,
  clock: Pick<Clock, 'now'>,
  read: () => Promise<Result<FileContent>>,
): Promise<ReadInstructions | undefined> {
  const facts = factsAt(place)
  if (facts === undefined) {
    known.delete(place)
    return undefined
  }
  const key = `${facts.dev}:${facts.ino}:${facts.mode}:${facts.nlink}:${facts.size}:${facts.mtimeMs}:${facts.ctimeMs}`
  const before = known.get(place)
  if (before?.key === key) return before.file
  const started = clock.now()
  const file = examineFile(await read())
  // A file that changed just now may change again with the same times.
  if (Math.abs(started - facts.ctimeMs) > RECENT_MS) known.set(place, { key, file })
  else known.delete(place)
  return file
}

/** Coarser than the clock of any file system. */
const RECENT_MS = 3_000

function examineFile(read: Result<FileContent>): ReadInstructions | undefined {
  if (!read.ok) {
    const refusal = refusalOf(read.error)
    return refusal === undefined ? undefined : { refusal }
  }
  const { path, bytes, size, truncated } = read.value
  return { path, bytes: size, ...(truncated ? {} : { sha256: hashOf(bytes) }) }
}

/** `undefined` for a file that is gone, or whose folder leads elsewhere: it does not apply. */
function refusalOf(error: HawserError): InstructionRefusal | undefined {
  const cause = causeOf(error)
  if (cause?.type === 'found') return cause.entry === 'symlink' ? 'link' : 'not_a_file'
  if (cause?.type === 'hard_link') return 'hard_link'
  if (cause?.type === 'system' && cause.code === 'ELOOP') return 'link'
  if (NOT_THERE.has(error.kind)) return undefined
  return error.kind === 'not_regular_file' ? 'not_a_file' : 'unreadable'
}

const NOT_THERE: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'not_found',
  'outside_workspace',
  'protected_path',
  'invalid_args',
])

/** The file of the person, opened without following a link. The same refusals as for a file of the workspace. */
function ownFile(home: Folder, limit: number): Promise<Result<FileContent>> {
  return asResult(`read ${OWN_NAME} of $HAWSER_HOME`, async () =>
    closing(await home.open(OWN_NAME, 'read'), async (file) => {
      const { size, links } = await file.stat()
      if (links > 1) return hardLinked()
      const bytes = await readSpan(file, 0, Math.min(size, limit) + 1)
      const truncated = bytes.length > limit
      const whole = { path: OWN_INSTRUCTIONS, size: Math.max(size, bytes.length), truncated }
      return ok({ ...whole, bytes: truncated ? bytes.subarray(0, limit) : bytes })
    }),
  )
}

function hardLinked(): Result<never> {
  const refused = failed('permission_denied', `${OWN_NAME} has more than one hard link.`)
  return withCause(refused, { type: 'hard_link' })
}

/** The file of the person first, then by folder, each before those below it. */
function inOrder(a: InstructionFile, b: InstructionFile): number {
  const [one, other] = [folderOrder(a), folderOrder(b)]
  if (one === other) return a.path < b.path ? -1 : 1
  return one < other ? -1 : 1
}

/** No name contains NUL, and nothing sorts before it. */
function folderOrder({ path }: InstructionFile): string {
  if (path === OWN_INSTRUCTIONS) return ''
  return `\0${path.split('/').slice(0, -1).join('\0')}`
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
