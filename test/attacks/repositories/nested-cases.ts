import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** What a Session of a nested workspace contains, and no command may see. */
export const CANARY = 'canary-7e21d90b44fc'

/** `.hawser` as some file system treats it: other case, trailing dots and spaces, invisible and compatible characters. */
export const SPELLINGS = [
  '.hawser',
  '.HAWSER',
  '.Hawser',
  '.hawser.',
  '.hawser ',
  '.haw\u{200d}ser',
  '.\u{ff48}awser',
] as const

/** Names by which FAT and NTFS find it, although they do not list it so. */
export const ALIASES = ['HAWSER~1', 'hawser~2', '.hawser::$INDEX_ALLOCATION'] as const

export const KINDS = ['folder', 'empty', 'file'] as const
export type Kind = (typeof KINDS)[number] | 'link'

export const DEPTHS = [1, 2, 3, 4, 5, 6] as const

/** The path of a nested entry: `d1/…/d<depth>/<name>`. */
export function pathAt(depth: number, name: string, tree = 'd'): string {
  return [...DEPTHS.slice(0, depth).map((at) => `${tree}${at}`), name].join('/')
}

/** Creates what a person, or another Hawser, had there before. */
export async function plant(workspace: string, path: string, kind: Kind): Promise<void> {
  const at = join(workspace, path)
  await mkdir(dirname(at), { recursive: true })
  if (kind === 'link') return symlink('/etc', at)
  if (kind === 'file') return writeFile(at, CANARY)
  await mkdir(at, { mode: 0o700 })
  if (kind === 'empty') return
  await mkdir(join(at, 'sessions'), { mode: 0o700 })
  await writeFile(join(at, 'sessions/ses_1.ndjson'), `${CANARY}\n`)
  await writeFile(join(at, 'config.json'), '{}\n')
}

/** What a command tries, as JavaScript, for the entry `P` in the folder `D`. The order is from harmless to destructive. */
export const OPERATIONS: Readonly<Record<string, string>> = {
  read: 'show(P); for (const name of fs.readdirSync(P)) { console.log("LISTED"); show(P + "/" + name) }',
  'read a Log': 'show(P); show(P + "/sessions/ses_1.ndjson")',
  'read through a link':
    'fs.symlinkSync(P, "soft"); show("soft"); show("soft/sessions/ses_1.ndjson")',
  'write through a hard link':
    'for (const at of [P, P + "/config.json"]) tried(() => { fs.linkSync(at, "hard"); fs.writeFileSync("hard", "planted") })',
  write:
    'for (const at of [P, P + "/config.json", P + "/new"]) tried(() => fs.writeFileSync(at, "planted"))',
  append:
    'for (const at of [P, P + "/sessions/ses_1.ndjson"]) tried(() => fs.appendFileSync(at, "planted"))',
  truncate: 'for (const at of [P, P + "/sessions/ses_1.ndjson"]) tried(() => fs.truncateSync(at))',
  rename: 'fs.renameSync(P, P + "-moved")',
  'rename another over it':
    'fs.mkdirSync("o"); tried(() => fs.rmSync(P, { recursive: true })); fs.renameSync("o", P)',
  'replace it by a link': 'fs.rmSync(P, { recursive: true }); fs.symlinkSync("/etc", P)',
  'replace the parent': 'fs.renameSync(D, D + "-old"); fs.mkdirSync(D); fs.mkdirSync(P)',
  'remove the parent': 'fs.rmSync(D, { recursive: true })',
  delete: 'fs.rmSync(P, { recursive: true })',
}

/** A program for Node that tries these operations on all paths, the deepest first, and never fails. */
export function programOf(operations: readonly string[], paths: readonly string[]): string {
  const tries = operations.map((name) => `(P, D) => { ${OPERATIONS[name] ?? 'process.exit(9)'} }`)
  return `
const fs = require('node:fs')
const tried = (work) => { try { work() } catch {} }
const show = (path) => tried(() => process.stdout.write(fs.readFileSync(path)))
for (const P of ${JSON.stringify(paths.toReversed())})
  for (const work of [${tries.join(',\n')}]) {
    tried(() => work(P, require('node:path').dirname(P)))
    for (const left of ['soft', 'hard', 'o']) tried(() => fs.rmSync(left, { recursive: true }))
  }
`
}

/** A script that creates an entry of each kind at each depth, each in a folder of its own. */
export function plantingScript(name: string): {
  readonly script: string
  readonly paths: string[]
} {
  const kinds: readonly Kind[] = [...KINDS, 'link']
  const made = kinds.flatMap((kind) =>
    DEPTHS.map((depth) => ({ kind, path: pathAt(depth, name, kind.slice(0, 2)) })),
  )
  const lines = made.map(({ kind, path }) => {
    const [at, parent] = [quoted(path), quoted(dirname(path))]
    const make = {
      folder: `mkdir -m 700 ${at} && echo '{"model":"planted"}' > ${at}/config.json`,
      empty: `mkdir -m 700 ${at}`,
      file: `echo planted > ${at}`,
      link: `ln -s /etc ${at}`,
    }[kind]
    return `mkdir -p ${parent}; ${make}`
  })
  return { script: lines.join('\n'), paths: made.map(({ path }) => path) }
}

export function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}
