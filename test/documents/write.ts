// Writes the generated documents; with `--check`, only lists the stale ones.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { documents } from './documents.ts'

const root = new URL('../../', import.meta.url)
const made = await documents(root)
const stale: string[] = []
for (const [path, text] of made) {
  if ((await textAt(path)) !== text) stale.push(path)
}
const left = (await readdir(new URL('docs/schemas/', root)).catch(() => []))
  .map((name) => `docs/schemas/${name}`)
  .filter((path) => !made.has(path))

if (process.argv.includes('--check')) {
  for (const path of [...stale, ...left]) console.log(`${path} is stale`)
  if (stale.length + left.length > 0) {
    console.log('To regenerate them: npm run docs')
    process.exitCode = 1
  }
} else {
  await mkdir(new URL('docs/schemas/', root), { recursive: true })
  for (const path of stale) await writeFile(new URL(path, root), made.get(path) ?? '')
  for (const path of left) await rm(new URL(path, root))
  console.log(`${made.size} documents, ${stale.length} written, ${left.length} removed`)
}

async function textAt(path: string): Promise<string | undefined> {
  return readFile(new URL(path, root), 'utf8').catch(() => undefined)
}
