import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { openConfined, type ConfinedFiles } from '../../../src/host/files/confined-files.ts'
import { random, type Random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { startChild } from '../support/child.ts'

export interface LinkRun {
  readonly seed: number
  readonly n: number
  readonly folder: string
}

export interface LinkRace {
  readonly violations: string[]
  /** Calls that succeeded and calls that were refused: a race has both. */
  readonly done: number
  readonly refused: number
}

/** Reads while parent folders and files are swapped for links that lead outside. */
export async function raceReads({ seed, n, folder }: LinkRun): Promise<LinkRace> {
  return racing(folder, async (arena) => {
    const chance = random(seed)
    return untilBoth(n, async (i) => {
      const path = chance.pick([
        'd/x',
        'd/sub/x',
        'd/../d/x',
        'leaf',
        'to-d/x',
        `${arena.workspace}/d/x`,
      ])
      const file = await arena.files.read(path, 1_000)
      if (!file.ok) return undefined
      return file.value.bytes.toString() === OWN ? [] : [`read ${i} of ${path} got out`]
    })
  })
}

/** Writes while the target folder is swapped for a link that leads outside. */
export async function raceWrites({ seed, n, folder }: LinkRun): Promise<LinkRace> {
  return racing(folder, async (arena) => {
    const chance = random(seed)
    return untilBoth(n, async (i) => {
      const path = writtenPath(chance)
      const written = await arena.files.write(path, Buffer.from(`write ${i}`), {
        expect: 'anything',
      })
      return written.ok ? [] : undefined
    })
  })
}

/** How often a check of the path followed by an open of the path escapes: a measure of how hard the race is. */
export async function raceNaively({ n, folder }: LinkRun): Promise<number> {
  let out = 0
  await racing(folder, async ({ workspace }) => {
    const root = await realpath(workspace)
    return untilBoth(n, async () => {
      const path = join(workspace, 'd/x')
      const real = await realpath(path).catch(() => '')
      if (!real.startsWith(`${root}/`)) return undefined
      const text = await readFile(path, 'utf8').catch(() => OWN)
      if (text !== OWN) out += 1
      return []
    })
  })
  return out
}

const OWN = 'own'
const CANARY = 'canary-51c0'

function writtenPath(chance: Random): string {
  const name = `w${chance.below(40)}`
  return chance.pick([
    `d/${name}`,
    `d/sub/${name}`,
    `d/new${chance.below(3)}/${name}`,
    `to-d/${name}`,
  ])
}

/** At least `n` calls, and until at least one succeeded and one was refused. */
async function untilBoth(
  n: number,
  call: (i: number) => Promise<readonly string[] | undefined>,
): Promise<LinkRace> {
  const violations: string[] = []
  let [done, refused] = [0, 0]
  for (let i = 0; i < n || done === 0 || refused === 0; i++) {
    const offences = await call(i)
    if (offences === undefined) refused += 1
    else done += 1
    violations.push(...(offences ?? []))
  }
  return { violations, done, refused }
}

interface Arena {
  readonly workspace: string
  readonly files: ConfinedFiles
}

/** Builds a workspace, starts another process that swaps its folders, and afterwards checks what is outside. */
async function racing(below: string, work: (arena: Arena) => Promise<LinkRace>): Promise<LinkRace> {
  const root = await mkdtemp(join(below, 'link-race-'))
  const { workspace, outside } = await build(root)
  const files = value(await openConfined(workspace, { refuse: [join(workspace, '.hawser')] }))
  const script = await bundleScript(new URL('link-swapper.ts', import.meta.url), root)
  const swapper = startChild(script, { workspace, names: ['d', 'leaf'] })
  await swapper.waitFor(({ what }) => what === 'ready')
  const raced = work({ workspace, files })
  await raced.catch(() => {})
  const { complaint } = await swapper.kill()
  await files.close()
  const offences = [...(await outsideOffences(outside)), ...(await leftovers(workspace))]
  if (complaint !== '') offences.push(`the swapper broke off: ${complaint}`)
  await rm(root, { recursive: true })
  const race = await raced
  return { ...race, violations: [...race.violations, ...offences] }
}

async function build(root: string): Promise<{ workspace: string; outside: string }> {
  const [workspace, outside] = [join(root, 'ws'), join(root, 'outside')]
  await mkdir(join(workspace, 'd/sub'), { recursive: true })
  await mkdir(join(outside, 'sub'), { recursive: true })
  for (const file of ['d/x', 'd/sub/x', 'leaf']) await writeFile(join(workspace, file), OWN)
  for (const file of ['x', 'sub/x']) await writeFile(join(outside, file), CANARY)
  await symlink(outside, join(workspace, 'd.link'))
  await symlink(join(outside, 'x'), join(workspace, 'leaf.link'))
  await symlink('d', join(workspace, 'to-d'))
  return { workspace, outside }
}

async function outsideOffences(outside: string): Promise<string[]> {
  const names = await readdir(outside, { recursive: true })
  const strays = names.filter((name) => !['x', 'sub', 'sub/x'].includes(name))
  const texts = await Promise.all(
    ['x', 'sub/x'].map((name) => readFile(join(outside, name), 'utf8')),
  )
  const changed = texts.filter((text) => text !== CANARY)
  return [
    ...strays.map((name) => `${name} was written outside`),
    ...changed.map(() => 'a file outside was changed'),
  ]
}

async function leftovers(workspace: string): Promise<string[]> {
  const names = await readdir(workspace, { recursive: true })
  return names.filter((name) => name.includes('.hawser-')).map((name) => `${name} was left behind`)
}
