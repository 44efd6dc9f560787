import { isAscii } from 'node:buffer'
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import { crc32 } from 'node:zlib'
import { homePath } from './machine.ts'

const ONLY_MINE = 0o700
const OTHERS_WRITE = 0o022

/**
 * Keeps the compiled form of the parts of this program in `cache` of the home, so that the next start compiles less. A user who
 * can write there can run code as this one. So the home is not created for it, and all folders are required to be real ones of
 * this user that no one else can write to; otherwise nothing is kept. What is damaged, or made by another version, is compiled
 * again. Never throws. `NODE_DISABLE_COMPILE_CACHE=1` turns it off. Node's own cache keeps less: on Node 20 nothing, and later
 * less of what a start runs.
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): void {
  const home = homePath(env)
  if (home === '' || env['NODE_DISABLE_COMPILE_CACHE'] === '1' || !isMine(home)) return
  const cache = join(home, 'cache')
  const folder = join(cache, `${process.version}-${process.arch}`)
  if ([cache, folder].every((path) => isMine(path) || (canMake(path) && isMine(path)))) {
    loadPartsFrom(folder, dirname(fileURLToPath(import.meta.url)))
  }
}

/** Loads the parts of the program, as `scripts/build.mjs` writes them. */
export function loadPartsFrom(folder: string, parts: string): void {
  const { extensions } = createRequire(join(parts, 'any.cjs'))
  const otherwise = extensions['.cjs'] ?? extensions['.js']
  const compiled: CompiledPart[] = []
  extensions['.cjs'] = (module, path) => {
    const part = dirname(path) === parts ? compile(folder, path) : undefined
    if (part === undefined) {
      otherwise(module, path)
      return
    }
    if (part.isNew) compiled.push(part)
    const run: unknown = part.script.runInThisContext()
    if (typeof run !== 'function') throw new Error(`${path} is no part of this program`)
    Reflect.apply(run, module.exports, [module.exports, createRequire(path), module, path, parts])
  }
  // At the end, it includes the functions that were compiled when they were first called.
  process.on('exit', () => {
    if (compiled.length === 0) return
    for (const part of compiled) keep(part)
    tidy(folder, parts)
  })
}

interface CompiledPart {
  readonly script: Script
  readonly source: Buffer
  readonly codePath: string
  readonly isNew: boolean
}

/** `scripts/build.mjs` writes it where a part imports a package. */
const LOADED_BY_NODE = '// loaded by Node\n'

function compile(folder: string, path: string): CompiledPart | undefined {
  const source = readFileSync(path)
  const text = source.toString(isAscii(source) ? 'latin1' : 'utf8')
  if (text.startsWith(LOADED_BY_NODE)) return undefined
  const codePath = join(folder, `${basename(path)}.code`)
  const cachedData = codeAt(codePath, source)
  const script = new Script(
    `(function (exports, require, module, __filename, __dirname) {${text}\n})`,
    { filename: path, ...(cachedData && { cachedData }) },
  )
  const isNew = cachedData === undefined || script.cachedDataRejected === true
  return { script, source, codePath, isNew }
}

/** The checksums of the source and of the compiled code, before the code: V8 checks neither. */
const HEADER_BYTES = 8

function codeAt(path: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(path)
    const code = bytes.subarray(HEADER_BYTES)
    return headerOf(source, code).equals(bytes.subarray(0, HEADER_BYTES)) ? code : undefined
  } catch {
    return undefined
  }
}

function headerOf(source: Buffer, code: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32LE(crc32(source), 0)
  header.writeUInt32LE(crc32(code), 4)
  return header
}

/** Not synced: what a power cut leaves of it does not match its checksum. */
function keep({ script, source, codePath }: CompiledPart): void {
  const temporary = `${codePath}.${process.pid}`
  try {
    const code = script.createCachedData()
    writeFileSync(temporary, Buffer.concat([headerOf(source, code), code]), { mode: 0o600 })
    renameSync(temporary, codePath)
  } catch {
    // The next start compiles it again.
    discard(temporary)
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Nothing can be removed there.
  }
}

/** More than a version has. */
const MOST_FILES = 400

/** Removes what other versions kept, once it is much. */
function tidy(folder: string, parts: string): void {
  try {
    const names = readdirSync(folder)
    if (names.length <= MOST_FILES) return
    const own = new Set(readdirSync(parts).map((name) => `${name}.code`))
    for (const name of names) if (!own.has(name)) unlinkSync(join(folder, name))
  } catch {
    // Another process tidies it too.
  }
}

function isMine(path: string): boolean {
  const found = statsOf(path)
  if (found === undefined || !found.isDirectory()) return false
  return found.uid === process.geteuid?.() && (found.mode & OTHERS_WRITE) === 0
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function canMake(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: ONLY_MINE })
    return true
  } catch {
    return false
  }
}
