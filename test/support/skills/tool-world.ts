import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256 } from '../../../src/encoding/hash.ts'
import { Redactor } from '../../../src/encoding/redaction.ts'
import { openConfined, type ConfinedFiles } from '../../../src/host/files/confined-files.ts'
import { systemSandbox, type ConfinedRun } from '../../../src/host/sandbox/sandbox.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import { BLOB_EXTENSIONS, BlobKey } from '../../../src/model/ids.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import type { ToolContext } from '../../../src/tools/tool.ts'
import { freshFolder } from '../host/folder.ts'
import { value } from '../log/story.ts'
import { WORLD_HISTORY } from './world-history.ts'
import { worldResources } from './world-resources.ts'
import { worldSkills } from './world-skills.ts'

/** A workspace on the disk with the context of a tool, and a record of what the tool stored and ran. */
export interface ToolWorld {
  readonly workspace: string
  readonly context: ToolContext
  readonly blobs: ReadonlyMap<BlobKey, Buffer>
  /** The command lines of the programs that were run. */
  readonly ran: readonly (readonly string[])[]
  readonly close: () => Promise<void>
}

export interface WorldOptions {
  /** An existing workspace; by default a new one is created. */
  readonly at?: { readonly workspace: string; readonly files: ConfinedFiles }
  readonly files?: Readonly<Record<string, string | Buffer>>
  readonly outputBytes?: number
  readonly signal?: AbortSignal
  /** The store is full. */
  readonly full?: boolean
  readonly run?: ConfinedRun
  readonly decided?: readonly string[]
  /** Keys to redact. */
  readonly secrets?: readonly string[]
  /** Default: true, as for a model that is shown the tag of notes with escapes. */
  readonly escapesNotes?: boolean
  readonly progress?: (text: string) => void
  /** Default: a Turn of one Event, whose lines are numbered. */
  readonly history?: Partial<typeof WORLD_HISTORY>
}

export async function toolWorld(options: WorldOptions = {}): Promise<ToolWorld> {
  const { workspace, files } = options.at ?? (await newWorkspace(options.files ?? {}))
  const blobs = new Map<BlobKey, Buffer>()
  const ran: (readonly string[])[] = []
  // The sandbox itself is tested elsewhere.
  const base = { workspace, home: join(workspace, '../home'), protectedPaths: [] }
  const chosen = options.run ?? systemSandbox().runUnconfined({ ...base, writable: 'nothing' })
  const run: ConfinedRun = (command) => {
    ran.push(command.argv)
    return chosen(command)
  }
  const redactor = new Redactor(options.secrets ?? [])
  const keep: ToolContext['keep'] = async (bytes, type) => {
    if (options.full === true) return failed('storage_failed', 'The disk is full.')
    const pieces: Uint8Array[] = []
    for await (const piece of redactor.chunks(bytes)) pieces.push(piece)
    const content = Buffer.concat(pieces)
    const key = BlobKey.parse(`${sha256(content)}.${BLOB_EXTENSIONS[type]}`)
    blobs.set(key, content)
    return ok(key)
  }
  const context: ToolContext = {
    signal: options.signal ?? new AbortController().signal,
    files,
    decidedPaths: new Set(options.decided ?? []),
    run,
    runReadOnly: run,
    resources: worldResources(files, keep),
    skills: worldSkills(files),
    redactor,
    escapesNotes: options.escapesNotes ?? true,
    keep,
    ...WORLD_HISTORY,
    ...options.history,
    progress: options.progress ?? (() => {}),
    limits: { output_bytes: options.outputBytes ?? LIMITS.tool_output_bytes, command_ms: 20_000 },
  }
  return { workspace, context, blobs, ran, close: () => files.close() }
}

async function newWorkspace(contents: Readonly<Record<string, string | Buffer>>) {
  const workspace = join(await freshFolder(), 'workspace')
  await mkdir(workspace)
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true })
    await writeFile(join(workspace, path), content)
  }
  const refuse = [join(workspace, '.hawser')]
  return { workspace, files: value(await openConfined(workspace, { refuse })) }
}
