import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { sha256 } from '../../src/encoding/hash.ts'
import { SessionId, Sha256 } from '../../src/model/ids.ts'
import { DIALECT_NAMES, type DialectName } from '../support/dialects.ts'
import { proveSessions } from '../support/session-proof.ts'
import { sessionStory } from './session-story.ts'

/** Where the example Sessions are, a folder for each version of the format and in it one for each Session. */
export const SESSIONS = fileURLToPath(new URL('logs/sessions/', import.meta.url))

/** The version of the format that this program writes: that of a line. */
const FORMAT = 'v1'

/** What is known of an example since it was written. */
const Example = z.object({
  session_id: SessionId,
  dialect: z.enum(DIALECT_NAMES),
  /** The hash of the words that its requests were written in, where its Log records one. */
  words_sha256: Sha256.optional(),
  events: z.number(),
  last_hash: Sha256,
  requests: z.number(),
})
type Example = z.infer<typeof Example>

export interface ExampleSession extends Example {
  /** As in `v1/messages`. */
  readonly name: string
  /** Holds a workspace with the Log and its blobs, and a home with its head. */
  readonly folder: string
}

/** Every example Session below a folder, of whatever version. */
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

/** Writes the example Session of a dialect below a folder, if there is none. It is acted out in the folder `scratch`. */
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
  const log = await readFile(join(root, 'workspace', '.hawser', 'sessions', `${session}.ndjson`))
  const made = join(scratch, 'made')
  await keepOnly(root, made, session)
  const example: Example = { session_id: session, dialect, requests, ...factsOf(log) }
  await writeFile(join(made, 'example.json'), `${JSON.stringify(example, undefined, 2)}\n`)
  await mkdir(join(folder, FORMAT), { recursive: true })
  // In one step: an example is there as a whole or not at all.
  await cp(made, `${target}.new`, { recursive: true })
  await rename(`${target}.new`, target)
  return true
}

/** The Log, its blobs and its head: what is derived from them is left out. */
async function keepOnly(root: string, made: string, session: string): Promise<void> {
  const own = join('workspace', '.hawser')
  const kept = [join(own, 'sessions', `${session}.ndjson`), join('home', 'heads', session)]
  const blobs = (await namesIn(join(root, own, 'blobs'))).filter((name) => /^[0-9a-f]{64}\./.test(name))
  for (const path of [...kept, ...blobs.map((name) => join(own, 'blobs', name))]) {
    await cp(join(root, path), join(made, path))
  }
}

/** What a Log says of itself. */
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
