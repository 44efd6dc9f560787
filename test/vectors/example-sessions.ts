import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { sha256 } from '../../src/encoding/hash.ts'
import { SessionId, Sha256 } from '../../src/model/ids.ts'
import { DIALECT_NAMES, type DialectName } from '../support/providers/dialects.ts'
import { proveSessions } from '../support/session-proof.ts'
import { sessionStory } from './session-story.ts'

/** The example Sessions: a folder for each format version, and in it one for each Session. */
export const SESSIONS = fileURLToPath(new URL('logs/sessions/', import.meta.url))

/** The format version that this program writes: that of a line. */
const FORMAT = 'v1'

/** What is recorded about an example since it was written. */
const Example = z.object({
  session_id: SessionId,
  dialect: z.enum(DIALECT_NAMES),
  /** The hash of the sentences in its requests, if its Log records one. */
  words_sha256: Sha256.optional(),
  events: z.number(),
  last_hash: Sha256,
  requests: z.number(),
})
type Example = z.infer<typeof Example>

export interface ExampleSession extends Example {
  /** As in `v1/messages`. */
  readonly name: string
  /** Contains `sessions` with the Log, `blobs`, and `heads` with its head. */
  readonly folder: string
}

/** Every example Session below a folder, of any version. */
export async function exampleSessions(folder: string): Promise<ExampleSession[]> {
  const examples: ExampleSession[] = []
  for (const version of await namesIn(folder)) {
    for (const name of await namesIn(join(folder, version))) {
      const at = join(folder, version, name)
      const example = Example.parse(JSON.parse(await readFile(join(at, 'example.json'), 'utf8')))
      examples.push({ ...example, name: `${version}/${name}`, folder: at })
    }
  }
  return examples
}

/** Writes the example Session of a dialect below a folder, if there is none. It is produced in the folder `scratch`. */
export async function writeExample(
  folder: string,
  dialect: DialectName,
  scratch: string,
): Promise<boolean> {
  const target = join(folder, FORMAT, dialect)
  if ((await namesIn(target)).length > 0) return false
  const { session, root } = await sessionStory(scratch, dialect)
  const { requests, not_comparable, wrong } = await proveSessions(root)
  if (wrong.length + not_comparable > 0) throw new Error(`the example is wrong: ${wrong.join('; ')}`)
  const log = await readFile(join(root, PLACES.sessions, `${session}.ndjson`))
  const made = join(scratch, 'made')
  await keepOnly(root, made, session)
  const example: Example = { session_id: session, dialect, requests, ...factsOf(log) }
  await writeFile(join(made, 'example.json'), `${JSON.stringify(example, undefined, 2)}\n`)
  await mkdir(join(folder, FORMAT), { recursive: true })
  // In one step: an example exists completely or not at all.
  await cp(made, `${target}.new`, { recursive: true })
  await rename(`${target}.new`, target)
  return true
}

/** The locations of the three folders of an example below a root. Repositories never contain `.hawser` itself. */
const PLACES = {
  sessions: join('workspace', '.hawser', 'sessions'),
  blobs: join('workspace', '.hawser', 'blobs'),
  heads: join('home', 'heads'),
} as const

/** The Log, its blobs and its head, without derived files. */
async function keepOnly(root: string, made: string, session: string): Promise<void> {
  const all = await namesIn(join(root, PLACES.blobs))
  const blobs = all.filter((name) => /^[0-9a-f]{64}\./.test(name))
  const kept = [
    ['sessions', `${session}.ndjson`],
    ['heads', session],
    ...blobs.map((name) => ['blobs', name] as const),
  ] as const
  for (const [folder, name] of kept) {
    await cp(join(root, PLACES[folder], name), join(made, folder, name))
  }
}

/** Copies an example to the locations of a workspace and a home below `root`. */
export async function placeExample({ folder }: ExampleSession, root: string): Promise<void> {
  for (const name of ['sessions', 'blobs', 'heads'] as const) {
    await cp(join(folder, name), join(root, PLACES[name]), { recursive: true })
  }
}

export function logOf({ folder, session_id }: ExampleSession): Promise<Buffer> {
  return readFile(join(folder, 'sessions', `${session_id}.ndjson`))
}

/** The facts that a Log records about itself. */
export function factsOf(log: Buffer): Pick<Example, 'words_sha256' | 'events' | 'last_hash'> {
  const lines = log.toString('utf8').trimEnd().split('\n')
  const events = lines.map((line) => Line.parse(JSON.parse(line)))
  const surface = events.findLast(({ type }) => type === 'prompt_surface')
  const { words_sha256 } = SurfaceData.parse(surface?.data)
  return { words_sha256, events: lines.length, last_hash: sha256(lines.at(-1) ?? '') }
}

const Line = z.object({ type: z.string(), data: z.unknown() })
const SurfaceData = z.object({ words_sha256: Sha256.optional() })

async function namesIn(folder: string): Promise<string[]> {
  return existsSync(folder) ? (await readdir(folder)).toSorted() : []
}
