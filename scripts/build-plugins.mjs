// Changes that the build makes so that the program starts faster.
import { fileURLToPath } from 'node:url'
import { RolldownMagicString } from 'rolldown'

const PARSER = fileURLToPath(new URL('../node_modules/commander/lib/', import.meta.url))

/**
 * The command line parser, as ES modules: what is wrapped as CommonJS is parsed twice. It can start programs, which
 * this program never does; loading the module for that uses memory.
 */
const parserAsModules = {
  name: 'parser-as-modules',
  resolveId: (id, importer) => {
    if (id === 'commander') return '\0commander'
    return id === 'node:child_process' && importer?.startsWith(PARSER) ? '\0nothing' : null
  },
  load: (id) => {
    if (id === '\0nothing') return 'export default {}'
    if (id !== '\0commander') return null
    const files = ['command.js', 'error.js', 'option.js']
    return files.map((name) => `export * from ${JSON.stringify(PARSER + name)}\n`).join('')
  },
  transform: (code, id) => (id.startsWith(PARSER) ? asModule(code) : null),
}

function asModule(code) {
  return edited(code, [
    [
      /^const (\w+) = require\((.*)\)\.\1;$/gm,
      ([, name, file]) => `import { ${name} } from ${file};`,
    ],
    [/^const (.*) = require\((.*)\);$/gm, ([, names, file]) => `import ${names} from ${file};`],
    [/^exports\.(\w+) = \1;/gm, ([, name]) => `export { ${name} };`],
  ])
}

/**
 * Importing `node:process` reads all its properties, which opens standard input, output and error at once; the global
 * `process` opens each on first use.
 */
const processAsGlobal = {
  name: 'process-as-global',
  resolveId: (id) => (id === 'node:process' ? '\0process' : null),
  load: (id) => (id === '\0process' ? 'export default globalThis.process' : null),
}

const SDK = /\/node_modules\/(@anthropic-ai\/sdk|openai)\/.*\.mjs$/
const HEADERS = fileURLToPath(new URL('../src/host/net/http-headers.ts', import.meta.url))

/**
 * The vendors' SDKs with our headers instead of the global ones, which load Node's whole HTTP client, although requests are
 * sent with our `fetch`. `test/contract/sdk-conformance.test.ts` compares what is sent.
 */
export const sdkHeaders = {
  name: 'sdk-headers',
  transform: (code, id) =>
    SDK.test(id) && /\b(new|instanceof) Headers\b/.test(code)
      ? edited(
          code,
          [[/\b(new|instanceof) Headers\b/, ([, how]) => `${how} HttpHeaders`]],
          `import { HttpHeaders } from ${JSON.stringify(HEADERS)};`,
        )
      : null,
}

const WHICH = `const isWindows = process.platform === 'win32'`
const LOCK = /\/fs-native-extensions\/index\.js$/

/**
 * The file lock, as an ES module too. Its native part is loaded by its path on this platform; searching for it takes
 * longer than all the rest.
 */
const lockAtOnce = {
  name: 'lock-at-once',
  resolveId: (id, importer) =>
    id === './binding' && LOCK.test(importer ?? '') ? '\0binding' : null,
  load: (id) =>
    id === '\0binding'
      ? `import { createRequire } from 'node:module'
         const require = createRequire(import.meta.url)
         const place = 'fs-native-extensions/prebuilds/' + process.platform + '-' + process.arch
         function load() {
           try { return require(place + '/fs-native-extensions.node') }
           catch { return require('fs-native-extensions/binding') }
         }
         export default load()`
      : null,
  transform: (code, id) =>
    LOCK.test(id)
      ? edited(code, [
          [/^const .* = require\('which-runtime'\)/, () => WHICH],
          [/^const binding = require\((.*)\)/, ([, file]) => `import binding from ${file}`],
          [/^exports\.(\w+) = /, ([, name]) => `export const ${name} = `],
        ])
      : null,
}

/**
 * Node's own modules without `import`, which reads each of their properties: of `node:fs`, that loads all streams, and of
 * `node:http` in newer versions the client of `fetch`.
 */
export const builtinsByName = {
  name: 'builtins-by-name',
  renderChunk: (code) =>
    edited(code, [
      [
        /^import (?:\* as )?(\w+)?(?:, )?(?:\{ (.*) \})? from ("node:.*");$/gm,
        ([, whole, names, module]) => {
          const found = `globalThis.process.getBuiltinModule(${module})`
          const parts =
            names === undefined ? [] : [`{ ${names.replaceAll(' as ', ': ')} } = ${found}`]
          if (whole !== undefined) parts.push(`${whole} = ${found}`)
          return `const ${parts.join(', ')};`
        },
      ],
      [
        /\bimport\(("node:[\w/]+")\)/g,
        ([, module]) => `Promise.resolve(globalThis.process.getBuiltinModule(${module}))`,
      ],
    ]),
}

/**
 * Imports a chunk itself, instead of a file that only exports some of its names. Finding and opening that file takes
 * longer than the import. A dynamic import may then return more names than its file exports.
 */
const withoutFacades = {
  name: 'without-facades',
  renderChunk: (code, _chunk, _options, { chunks }) =>
    edited(code, [
      [
        /\bimport\("\.\/((?:parts\/)?)(.*?)"\)/g,
        ([whole, folder, name]) => {
          const facade = chunks[`parts/${name}`]
          const behind = facade === undefined ? undefined : chunkBehind(facade, chunks)
          if (behind === undefined) return whole
          return `import("./${folder}${behind.replace('parts/', '')}")`
        },
      ],
    ]),
  generateBundle: (_options, bundle) => {
    for (const [path, part] of Object.entries(bundle)) {
      if (part.type !== 'chunk' || chunkBehind(part, bundle) === undefined) continue
      // A name that two files export would be another in the chunk.
      if (!/^export\{[\w$,]+\}from"/.test(part.code)) throw new Error(`${path}: ${part.code}`)
      delete bundle[path]
    }
  },
}

/** The path of the chunk whose names are all that this one exports. */
function chunkBehind({ isDynamicEntry, moduleIds, imports: [path], exports }, chunks) {
  if (!isDynamicEntry || moduleIds.length > 0 || path === undefined) return undefined
  const names = new Set(chunks[path]?.exports)
  return exports.every((name) => names.has(name)) ? path : undefined
}

/** The code with every match of the patterns replaced, behind a line of other code, and its source map. */
function edited(code, patterns, before = '') {
  const text = new RolldownMagicString(code)
  for (const [pattern, replacement] of patterns) {
    for (const match of code.matchAll(new RegExp(pattern, 'gm'))) {
      text.overwrite(match.index, match.index + match[0].length, replacement(match))
    }
  }
  if (!text.hasChanged()) return null
  text.prepend(before)
  return { code: text.toString(), map: text.generateMap({ hires: 'boundary' }).toString() }
}

export const PLUGINS = [
  parserAsModules,
  processAsGlobal,
  lockAtOnce,
  sdkHeaders,
  builtinsByName,
  withoutFacades,
]
