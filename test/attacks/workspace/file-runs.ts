import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConfinedFiles } from '../../../src/host/files/confined-files.ts'
import type { Result } from '../../../src/model/errors.ts'
import { treeHash } from '../../support/host/tree-hash.ts'
import { FILE_CASES, type FileCase } from './file-cases.ts'
import { buildScene, CANARY, type Scene } from './file-scene.ts'

export interface CaseRun {
  readonly tried: number
  /** One sentence each. */
  readonly wrong: readonly string[]
}

const WAYS = ['read', 'write', 'remove', 'list', 'real'] as const
type Way = (typeof WAYS)[number]

/** Tries every case, in a new scene for each way, and then checks everything that no call may change. */
export async function runFileCases(base: string): Promise<CaseRun> {
  let tried = 0
  const wrong: string[] = []
  for (const way of WAYS) {
    await mkdir(join(base, way))
    const scene = await buildScene(join(base, way))
    const before = await untouched(scene)
    for (const one of FILE_CASES) {
      const expected = expectedOf(one, way, scene)
      if (expected === undefined) continue
      tried += 1
      const got = await answerOf(scene.files, way, pathOf(one, scene))
      if (got === expected) continue
      wrong.push(`row ${one.row}: ${way} ${JSON.stringify(one.path)} gave ${got}, not ${expected}`)
    }
    if ((await untouched(scene)) !== before) wrong.push(`${way} changed what it may not`)
    await scene.close()
  }
  return { tried, wrong }
}

export function pathOf({ path }: FileCase, { workspace, outside }: Scene): string {
  return path.replace('{ws}', workspace).replace('{around}', outside)
}

/** Everything around the workspace, and Hawser's own folders in it. */
export async function untouched({ outside, workspace }: Scene): Promise<string> {
  const own = ['.hawser', 'state', 'found-late'].map((name) => treeHash(join(workspace, name)))
  return [await treeHash(outside, [workspace]), ...(await Promise.all(own))].join()
}

function expectedOf(one: FileCase, way: Way, { devices }: Scene): string | undefined {
  if (one.devices === true && !devices) return undefined
  if (way === 'real') return typeof one.real === 'object' ? `path ${one.real.path}` : one.real
  const isRoot = process.getuid?.() === 0
  return (isRoot && way !== 'remove' ? one.root?.[way] : undefined) ?? one[way]
}

async function answerOf(files: ConfinedFiles, way: Way, path: string): Promise<string> {
  const result = await touch(files, way, path)
  if (result.ok) return way === 'real' ? `path ${String(result.value)}` : 'ok'
  const { kind } = result.error
  return JSON.stringify(result).includes(CANARY) ? `${kind} and a secret` : kind
}

function touch(files: ConfinedFiles, way: Way, path: string): Promise<Result<unknown>> {
  switch (way) {
    case 'read':
      return files.read(path, 1_000)
    case 'write':
      return files.write(path, Buffer.from('planted'), { expect: 'anything' })
    case 'remove':
      return files.remove(path, { expect: 'anything' })
    case 'list':
      return files.list(path)
    case 'real':
      return files.realRelative(path)
  }
}
