// Builds dist/: the program, the library and its types, and in dist/web the app for browsers; and rehearse/dist/, the package hawser-rehearse. With `--if-stale`,
// only if a source is newer. Everything is built in a temporary folder and swapped in at the end: a failed build leaves
// the old one.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmod,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'rolldown'
import { PLUGINS } from './build-plugins.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')
const PROGRAM = 'hawser.cjs'
const REHEARSE = join(ROOT, 'rehearse', 'dist')
const REHEARSE_ENTRY = 'rehearse.js'
const SOURCES = [
  'bin',
  'src',
  'rehearse/src',
  'rehearse/vendor-schemas',
  'rehearse/package.json',
  'web/src',
  'web/public',
  'web/index.html',
  'web/vite.config.ts',
  'web/package.json',
  'scripts/build.mjs',
  'scripts/build-plugins.mjs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
]

/**
 * Native parts are loaded from node_modules, and so is the PDF reader, which is large and runs in a separate thread, and
 * the server that plays vendors, which is a separate package; everything else is bundled.
 */
const NOT_BUNDLED = [/^fs-native-extensions\//, 'sharp', 'unpdf', 'hawser-rehearse']

/** Begins a part that imports a package: on Node 20, `import` is not possible in code that was compiled before. */
const LOADED_BY_NODE = '// loaded by Node'

/** The output of both packages. */
const OUTPUT = {
  minify: true,
  // A file with another character is decoded more slowly, and takes twice the memory.
  charset: 'ascii',
  sourcemap: true,
  // `withoutFacades` imports by these names.
  minifyInternalExports: false,
}

/**
 * Files that are read together are one chunk: finding and opening many takes longer than reading one. A file belongs to
 * the first chunk one of whose entries imports it, at any depth; imports in functions do not count.
 */
const TOGETHER = [
  // Decides where the compiled form of all others is.
  { name: 'first', entries: ['src/host/compile-cache.ts'] },
  { name: 'checks', entries: ['src/host/light-checks.ts'] },
  // Also needed by the help.
  { name: 'base', entries: ['src/presenters/cli/program.ts'] },
  // Needed by every command with a Session.
  { name: 'core', entries: ['src/compose/workspace.ts', 'src/presenters/cli/commands/run.ts'] },
  // Needed when a model calls a tool.
  { name: 'tools', entries: ['src/turn/settle-tools.ts', 'src/tools/toolset.ts'] },
]
/** What all network dialects need; each dialect has its own chunk beside it. */
const REMOTE = /\/src\/(providers\/[^/]+|host\/net\/http|encoding\/server-sent-events)\.ts$/
const GROUPS = [
  {
    name: chunkOf(TOGETHER),
    debugName: 'together',
    priority: 2,
    // `chunkOf` decides for them too.
    includeDependenciesRecursively: false,
  },
  { name: 'remote', priority: 1, test: REMOTE },
  ...['messages', 'responses', 'chat'].map((name) => ({
    name: `${name}-dialect`,
    priority: 1,
    test: new RegExp(`/src/providers/${name}/`),
  })),
]

if (!process.argv.includes('--if-stale') || !(await isFresh())) await buildAndSwap()

async function buildAndSwap() {
  const started = new Date()
  const work = await mkdtemp(join(ROOT, 'node_modules', '.build-'))
  try {
    const made = join(work, 'dist')
    await bundle(made, await toolSchemas(work))
    await bundleApp(join(made, 'web'))
    await declareTypes(join(made, 'types'))
    await chmod(join(made, PROGRAM), 0o755)
    const rehearse = join(work, 'rehearse')
    await bundleRehearse(rehearse)
    for (const path of [join(made, PROGRAM), join(rehearse, REHEARSE_ENTRY)]) {
      await utimes(path, started, started)
    }
    await swapIn(rehearse, REHEARSE, work)
    await swapIn(made, DIST, work)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  console.log(`built dist in ${((Date.now() - started.getTime()) / 1000).toFixed(1)} s`)
}

/** The tools as models see them, from the sources: what every start would make again. */
async function toolSchemas(work) {
  const dir = join(work, 'tools')
  await build({
    cwd: ROOT,
    input: 'src/tools/toolset.ts',
    platform: 'node',
    external: NOT_BUNDLED,
    output: { dir, format: 'esm', entryFileNames: 'toolset.mjs', codeSplitting: false },
  })
  const tools = await import(pathToFileURL(join(dir, 'toolset.mjs')).href)
  const schemas = tools.toolSchemas(tools.TOOLSET)
  return { schemas, skillSchemas: tools.toolSchemas(tools.SKILL_TOOLS) }
}

/** Identifies what this version accepts as an Event: the sources of its schemas, and the library that checks them. */
async function eventSchemas({ zod }) {
  const names = await readdir(join(ROOT, 'src', 'model'), { recursive: true })
  const sources = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort()
  const hash = createHash('sha256').update(zod)
  for (const name of sources) {
    hash.update(`\0${name}\0`).update(await readFile(join(ROOT, 'src', 'model', name)))
  }
  return hash.digest('hex').slice(0, 16)
}

async function bundle(folder, schemas) {
  const { version, dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const { output } = await build({
    cwd: ROOT,
    input: { hawser: 'bin/hawser.ts', index: 'src/index.ts' },
    // Required for `includeDependenciesRecursively`.
    preserveEntrySignatures: 'allow-extension',
    platform: 'node',
    // Its paths name types, not code.
    tsconfig: false,
    external: NOT_BUNDLED,
    plugins: PLUGINS,
    transform: {
      define: {
        HAWSER_VERSION: JSON.stringify(version),
        HAWSER_TOOL_SCHEMAS: JSON.stringify(schemas),
        HAWSER_EVENT_SCHEMAS: JSON.stringify(await eventSchemas(dependencies)),
      },
    },
    output: {
      ...OUTPUT,
      // Node keeps no compiled ES modules, and loads them more slowly.
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'parts/[name]-[hash].cjs',
      dir: folder,
      codeSplitting: { groups: GROUPS },
      postBanner: ({ name, dynamicImports }) => {
        if (name === 'hawser') return '#!/usr/bin/env node'
        return dynamicImports.some((id) => NOT_BUNDLED.includes(id)) ? LOADED_BY_NODE : ''
      },
    },
  })
  for (const { fileName, code } of output) {
    if (/\bimport\(`/.test(code ?? '') && !code.startsWith(LOADED_BY_NODE))
      throw new Error(`${fileName} imports a package that is not installed or not bundled`)
  }
  await nameExports(folder, output)
}

/** The library is an ES module that passes on the names of `index.cjs`, which shares its parts with the program. */
async function nameExports(folder, output) {
  const { exports } = output.find(({ fileName }) => fileName === 'index.cjs')
  const code = `import library from './index.cjs'\nexport const { ${exports.join(', ')} } = library\n`
  await writeFile(join(folder, 'index.js'), code)
}

/** One package without dependencies: what it uses of Hawser and of other packages is bundled. */
async function bundleRehearse(folder) {
  await build({
    cwd: ROOT,
    input: { rehearse: 'rehearse/src/rehearse.ts' },
    platform: 'node',
    plugins: PLUGINS,
    output: { ...OUTPUT, format: 'esm', entryFileNames: '[name].js', dir: folder },
  })
}

/** The app for browsers, in a process of its own: its bundler changes the environment. */
async function bundleApp(folder) {
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js')
  const argv = [vite, 'build', join(ROOT, 'web'), '--outDir', folder, '--logLevel', 'error']
  await promisify(execFile)(process.execPath, argv, { cwd: join(ROOT, 'web') })
}

/** A function from a file to the name of its chunk, if it is in one of `together`. */
function chunkOf(together) {
  let chunks
  const assign = (modules) => {
    chunks = new Map()
    for (const { name, entries } of together) {
      const found = entries.map((path) => join(ROOT, path))
      for (const id of found) {
        const info = chunks.has(id) ? null : modules.getModuleInfo(id)
        if (info === null) continue
        chunks.set(id, name)
        found.push(...info.importedIds)
      }
    }
  }
  return (id, modules) => {
    if (chunks === undefined) assign(modules)
    return chunks.get(id)
  }
}

async function declareTypes(folder) {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const run = promisify(execFile)
  await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', folder], {
    cwd: ROOT,
  }).catch((error) => {
    console.error(error.stdout)
    throw new Error('type declarations could not be built', { cause: error })
  })
  const files = await readdir(folder, { recursive: true })
  await Promise.all(
    files
      .filter((path) => path.endsWith('.d.ts'))
      .map((path) => nameBuiltFiles(join(folder, path))),
  )
}

/** tsc leaves `./errors.ts` in declarations; importers of the package have `./errors.d.ts`, found by `./errors.js`. */
async function nameBuiltFiles(path) {
  const text = await readFile(path, 'utf8')
  await writeFile(
    path,
    text.replaceAll(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2'),
  )
}

/** Another build may swap at the same moment; the last one wins. */
async function swapIn(made, place, work) {
  for (let attempt = 0; ; attempt += 1) {
    await rename(place, join(work, `old-${basename(made)}-${attempt}`)).catch(unless('ENOENT'))
    try {
      return await rename(made, place)
    } catch (error) {
      if (attempt === 5) throw error
      unless('ENOTEMPTY', 'EEXIST')(error)
    }
  }
}

function unless(...codes) {
  return (error) => {
    if (!codes.includes(error.code)) throw error
  }
}

/** What was built has the time at which its build started, so that a source saved meanwhile counts as newer. */
async function isFresh() {
  const entries = [join(DIST, PROGRAM), join(REHEARSE, REHEARSE_ENTRY)]
  const built = await Promise.all(entries.map((path) => stat(path).catch(() => undefined)))
  const times = built.map((entry) => entry?.mtimeMs ?? 0)
  return (await newest(SOURCES)) < Math.min(...times)
}

/** Folders count too: their time shows that files were removed. */
async function newest(paths) {
  const times = paths.map(async (path) => {
    const found = await stat(join(ROOT, path))
    if (!found.isDirectory()) return found.mtimeMs
    const inside = await readdir(join(ROOT, path))
    return Math.max(found.mtimeMs, await newest(inside.map((name) => join(path, name))))
  })
  return Math.max(0, ...(await Promise.all(times)))
}
