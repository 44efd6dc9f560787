import { execFileSync } from 'node:child_process'
import { lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import { openConfined, type ConfinedFiles } from '../../../src/host/files/confined-files.ts'
import type { AttachmentCode } from '../../../src/model/attachment.ts'
import { BlobKey } from '../../../src/model/ids.ts'
import {
  resolveAttachments,
  type ResolverParts,
} from '../../../src/resources/resolve-attachments.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { startChild } from '../support/child.ts'

export interface IngestRun {
  readonly seed: number
  readonly n: number
  readonly folder: string
}

export interface IngestRace {
  readonly violations: string[]
  /** Accepted and refused attachments: a race has both. */
  readonly taken: number
  readonly refused: number
}

/** Attaches a file, as a person does, while it is constantly swapped for a link to another file. */
export async function raceIngests({ n, folder }: IngestRun): Promise<IngestRace> {
  return racing(folder, ({ workspace }) =>
    untilBoth(n, () => ingest(join(workspace, 'leaf.txt'), {}, AS_A_PERSON)),
  )
}

/** The same for a caller restricted to the workspace; the parent folder is swapped too. */
export async function raceConfinedIngests({ seed, n, folder }: IngestRun): Promise<IngestRace> {
  return racing(folder, ({ workspace, files }) => {
    const chance = random(seed)
    return untilBoth(n, () => {
      const way = chance.pick(['leaf.txt', 'd/x.txt', 'to-d/x.txt', `${workspace}/d/x.txt`])
      return ingest(way, { workspaceFiles: files }, AS_A_MODEL)
    })
  })
}

/** How often a check of the path followed by a read of the path escapes: a measure of how hard the race is. */
export async function raceNaiveIngests({ n, folder }: IngestRun): Promise<number> {
  let out = 0
  await racing(folder, ({ workspace }) =>
    untilBoth(n, async () => {
      const path = join(workspace, 'leaf.txt')
      const isFile = await lstat(path).then(
        (facts) => facts.isFile(),
        () => false,
      )
      if (!isFile) return undefined
      const text = await readFile(path, 'utf8').catch(() => OWN)
      if (text !== OWN) out += 1
      return []
    }),
  )
  return out
}

/** How long it takes to refuse each of many pipes without a writer, in milliseconds, the longest last. */
export async function pipeTimes(n: number, below: string): Promise<readonly number[]> {
  const root = await mkdtemp(join(below, 'pipe-'))
  const path = join(root, 'pipe.png')
  execFileSync('mkfifo', [path])
  const times: number[] = []
  for (let i = 0; i < n; i++) {
    const started = performance.now()
    const [answer] = value(
      await resolveAttachments([{ from: 'path', path }], { clock: systemClock }),
    )
    if (answer?.ok !== false || answer.error.code !== 'not_regular_file')
      throw new Error('not refused as a pipe')
    times.push(performance.now() - started)
  }
  await rm(root, { recursive: true })
  return times.toSorted((a, b) => a - b)
}

const OWN = 'own text, one line\n'
const CANARY = 'canary-c40d\n'

const AS_A_PERSON: readonly AttachmentCode[] = ['symlink', 'not_found', 'changed_while_read']
const AS_A_MODEL: readonly AttachmentCode[] = ['symlink', 'not_found', 'outside_workspace']

/** What is wrong with the stored file or the answer; `undefined` if it was refused correctly. */
async function ingest(
  path: string,
  parts: Partial<ResolverParts>,
  mayBe: readonly AttachmentCode[],
): Promise<readonly string[] | undefined> {
  const stored: string[] = []
  const keep: NonNullable<ResolverParts['keep']> = async (pieces) => {
    for await (const piece of pieces) stored.push(Buffer.from(piece).toString())
    return { ok: true, value: BlobKey.parse(`${sha256(stored.join(''))}.txt`) }
  }
  const [answer] = value(
    await resolveAttachments([{ from: 'path', path }], { clock: systemClock, keep, ...parts }),
  )
  if (stored.some((text) => text !== OWN)) return [`${path} got out: ${stored.join('')}`]
  if (answer?.ok !== false) return stored.length === 1 ? [] : [`${path} was not stored`]
  const { code, reason } = answer.error
  return mayBe.includes(code) ? undefined : [`${path} was refused as ${code}: ${reason}`]
}

/** At least `n` times, and until at least one file was accepted and one refused. */
async function untilBoth(
  n: number,
  call: () => Promise<readonly string[] | undefined>,
): Promise<IngestRace> {
  const violations: string[] = []
  let [taken, refused] = [0, 0]
  for (let i = 0; i < n || taken === 0 || refused === 0; i++) {
    const offences = await call()
    if (offences === undefined) refused += 1
    else taken += 1
    violations.push(...(offences ?? []))
  }
  return { violations, taken, refused }
}

interface Arena {
  readonly workspace: string
  readonly files: ConfinedFiles
}

/** Builds a workspace and starts another process that swaps a file and a folder in it. */
async function racing(
  below: string,
  work: (arena: Arena) => Promise<IngestRace>,
): Promise<IngestRace> {
  const root = await mkdtemp(join(below, 'ingest-race-'))
  const workspace = await build(root)
  const files = value(await openConfined(workspace, { refuse: [] }))
  const script = await bundleScript(new URL('link-swapper.ts', import.meta.url), root)
  const swapper = startChild(script, { workspace, names: ['leaf.txt', 'd'] })
  await swapper.waitFor(({ what }) => what === 'ready')
  const raced = work({ workspace, files })
  await raced.catch(() => {})
  const { complaint } = await swapper.kill()
  await files.close()
  await rm(root, { recursive: true })
  const race = await raced
  const broke = complaint === '' ? [] : [`the swapper broke off: ${complaint}`]
  return { ...race, violations: [...race.violations, ...broke] }
}

async function build(root: string): Promise<string> {
  const [workspace, outside] = [join(root, 'ws'), join(root, 'outside')]
  await mkdir(join(workspace, 'd'), { recursive: true })
  await mkdir(outside)
  for (const name of ['leaf.txt', 'd/x.txt']) await writeFile(join(workspace, name), OWN)
  await writeFile(join(outside, 'x.txt'), CANARY)
  await symlink(outside, join(workspace, 'd.link'))
  await symlink(join(outside, 'x.txt'), join(workspace, 'leaf.txt.link'))
  await symlink('d', join(workspace, 'to-d'))
  return workspace
}
