// Adds to package-lock.json what `npm install` omits: packages of other platforms that could not be resolved.
// npm ci rejects a lock file without them. Run it after an install: `npm run lock`.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const LOCK = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/
const PLATFORM =
  /(android|darwin|freebsd|linux|openharmony|win32|wasm32)-(\w+)(?:-(gnu|musl|msvc|eabi)\w*)?$/

const lock = JSON.parse(await readFile(LOCK, 'utf8'))
const missing = missingPackages(lock.packages)
Object.assign(lock.packages, missing)
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en')),
)
await writeFile(LOCK, `${JSON.stringify(lock, null, 2)}\n`)
console.log(`added ${Object.keys(missing).length} packages of other platforms`)

function missingPackages(packages) {
  const found = {}
  for (const [path, { dev, optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const nearest = lookUp(packages, path, name)
      if (nearest !== undefined && (!EXACT.test(version) || nearest.version === version)) continue
      if (!EXACT.test(version))
        throw new Error(`${path} requires ${name} ${version}, which is not an exact version`)
      found[`${siblingsOf(path)}${name}`] = entryOf(name, version, dev)
    }
  }
  return found
}

/** As Node does: beside the package, then beside each enclosing package. */
function lookUp(packages, path, name) {
  for (
    let folder = siblingsOf(path);
    ;
    folder = siblingsOf(folder.slice(0, -'/node_modules/'.length))
  ) {
    const entry = packages[`${folder}${name}`]
    if (entry !== undefined || folder === 'node_modules/') return entry
  }
}

function siblingsOf(path) {
  const at = path.lastIndexOf('node_modules/')
  return at < 0 ? 'node_modules/' : path.slice(0, at + 'node_modules/'.length)
}

/** Keys in the order in which npm writes them. */
function entryOf(name, version, dev) {
  const [, os, cpu, abi] = PLATFORM.exec(name) ?? []
  if (os === undefined) throw new Error(`${name}: its name does not say for which platform it is`)
  const libc = os === 'linux' ? { gnu: 'glibc', musl: 'musl' }[abi] : undefined
  return {
    version,
    cpu: [os === 'wasm32' ? os : cpu],
    ...(dev === true ? { dev } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    ...(os === 'wasm32' ? {} : { os: [os] }),
  }
}
