import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'

/** Logs or blobs below `folder` are not as the program wrote them. */
const Registered = z.object({ folder: z.string(), why: z.string() })
export type Registered = z.infer<typeof Registered>

const FOLDER = 'damaged-on-purpose'

/**
 * Registers that this test damages, forges or deletes what the program wrote below a folder. The proof of all Sessions at the end
 * of the run then counts what it finds wrong there, and fails on what it finds wrong anywhere else.
 */
export async function damagedOnPurpose(
  folder: string,
  why: string,
  root = process.env['HAWSER_TEST_ROOT'],
): Promise<void> {
  if (root === undefined) throw new Error('damagedOnPurpose works in tests run by vitest only')
  await mkdir(join(root, FOLDER), { recursive: true })
  const registered: Registered = { folder, why }
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
