import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'

/**
 * What a test changes: the bytes of a Log (requests before the damage must still verify), payloads (only these may be
 * missing), or whole Events that no Turn produced (requests need not follow from them).
 */
const Damage = z.enum(['log', 'blobs', 'events'])
export type Damage = z.infer<typeof Damage>

const Registered = z.object({ folder: z.string(), damage: Damage, why: z.string() })
type Registered = z.infer<typeof Registered>

const FOLDER = 'damaged-on-purpose'

/**
 * Registers that this test damages, forges or deletes what the program wrote below a folder. At the end of the run, the
 * proof of all Sessions tolerates the effects of this damage and fails on any other fault.
 */
export async function registerDamage(
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

/** Everything that the tests of a run registered. */
export async function registeredIn(root: string): Promise<readonly Registered[]> {
  // The folder does not exist if nothing was registered.
  const names = await readdir(join(root, FOLDER)).catch((): string[] => [])
  return Promise.all(
    names.map(async (name) =>
      Registered.parse(JSON.parse(await readFile(join(root, FOLDER, name), 'utf8'))),
    ),
  )
}
