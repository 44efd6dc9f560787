import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Replaces the lines between the marks with that name in a document of the repository. */
export async function replaceTable(
  document: string,
  name: string,
  lines: readonly string[],
): Promise<void> {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const path = join(ROOT, document)
  const text = await readFile(path, 'utf8')
  const [head, rest] = text.split(open)
  const tail = rest?.split(close)[1]
  if (head === undefined || tail === undefined)
    throw new Error(`${path} has no place for the table`)
  await writeFile(path, `${head}${open}\n${lines.join('\n')}\n${close}${tail}`)
}
