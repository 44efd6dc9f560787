import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'

/**
 * What is not as the program wrote it: the bytes of a Log, so that every request before the damage is still proved; payloads,
 * so that only those are missing; or whole Events that no Turn led to, so that a request need not follow from them.
 */
const Damage = z.enum(['log', 'blobs', 'events'])
export type Damage = z.infer<typeof Damage>

const Registered = z.object({ folder: z.string(), damage: Damage, why: z.string() })
type Registered = z.infer<typeof Registered>

const FOLDER = 'damaged-on-purpose'

/**
 * Registers that this test damages, forges or deletes what the program wrote below a folder. The proof of all Sessions at the end
 * of the run then counts what comes of that damage, and fails on anything else that it finds wrong.
 */
export async function damagedOnPurpose(
  folder: string,
  damage: Damage,
  why: string,
  root = process.env['HAWSER_TEST_ROOT'],
): Promise<void> {
  if (root === undefined) throw new Error('damagedOnPurpose works in tests run by vitest only')
  await mkdir(join(root, FOLDER), { recursive: true })
  const registered: Registered = { folder, damage, why }
  await writeFile(join(root, FOLDER, `${randomUUID()}.json`), JSON.stringify(registered))
}

/** All that the tests of a run registered. */
export async function registeredIn(root: string): Promise<readonly Registered[]> {
  // Where nothing was registered there is no folder.
  const names = await readdir(join(root, FOLDER)).catch((): string[] => [])
  return Promise.all(
    names.map(async (name) =>
      Registered.parse(JSON.parse(await readFile(join(root, FOLDER, name), 'utf8'))),
    ),
  )
}
