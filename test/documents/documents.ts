import { readFile } from 'node:fs/promises'
import { format } from 'oxfmt'
import { commandPage, exitCodeTable } from './command-page.ts'
import { faceTable } from './face-table.ts'
import { manual } from './manual.ts'
import { openApi } from './openapi.ts'
import { schemas } from './schemas.ts'
import { modelFactTable, settingTable } from './setting-table.ts'

/** The text between two marks of a page is generated from the program; the rest of the page is written by hand. */
const PARTS: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  'docs/commands.md': { commands: commandPage, 'exit codes': exitCodeTable },
  'docs/notices.md': { notices: faceTable },
  'docs/configuration.md': { settings: settingTable, 'facts of a model': modelFactTable },
}

/** Every document that is generated, whole or in part, with its expected content, by path. */
export async function documents(root: URL): Promise<Map<string, string>> {
  const made = new Map<string, string>()
  for (const { name, schema } of await schemas()) {
    made.set(
      `docs/schemas/${name}.json`,
      await formatted('a.json', JSON.stringify(schema, undefined, 2)),
    )
  }
  made.set('docs/hawser.1', manual())
  made.set('docs/openapi.yaml', await formatted('a.yaml', openApi()))
  for (const [path, parts] of Object.entries(PARTS)) {
    let page = await readFile(new URL(path, root), 'utf8')
    for (const [name, make] of Object.entries(parts))
      page = replaced(page, path, name, await make())
    made.set(path, page)
  }
  return made
}

async function formatted(name: string, text: string): Promise<string> {
  const { code, errors } = await format(name, text, { printWidth: 100, singleQuote: true })
  if (errors.length > 0) throw new Error('a document could not be formatted')
  return code
}

function replaced(page: string, path: string, name: string, text: string): string {
  const open = `<!-- generated: ${name} -->`
  const close = '<!-- end -->'
  const from = page.indexOf(open)
  const to = page.indexOf(close, from)
  if (from < 0 || to < 0) throw new Error(`${path} has no mark for the generated part ${name}`)
  return `${page.slice(0, from)}${open}\n\n${text}\n\n${page.slice(to)}`
}
