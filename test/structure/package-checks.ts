import { isTest, type Tree } from './source.ts'

const EXACT_VERSION = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/
const HOME_FOLDER = /(?<![\w.~-])\/(root|home\/[a-z][\w.-]*|Users\/[A-Za-z][\w.-]*)\/[\w.]/
const PACKAGE_HOST = /registry\.(npmjs|yarnpkg)/

const PACKAGE_FILES = ['package.json', 'rehearse/package.json', 'web/package.json'] as const
type PackagePath = (typeof PACKAGE_FILES)[number]

interface PackageFile {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

interface LockEntry {
  readonly version?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export function versionsNotExact(tree: Tree): string[] {
  return PACKAGE_FILES.flatMap((path) =>
    Object.entries(pinsOf(packageOf(tree, path)))
      .filter(([, version]) => !EXACT_VERSION.test(version))
      .map(([name, version]) => `${path} asks for ${name} ${version}; give one exact version`),
  )
}

/** Two versions of a package would both be installed; and hawser works only with its own version of hawser-rehearse. */
export function versionsThatDiffer(tree: Tree): string[] {
  const [hawser, rehearse] = PACKAGE_FILES.map((path) => packageOf(tree, path))
  const { version = 'none', peerDependencies = {} } = hawser ?? {}
  const own = rehearse?.version ?? 'none'
  const asked = peerDependencies['hawser-rehearse'] ?? 'no hawser-rehearse'
  const pins = pinsOf(hawser ?? {})
  return [
    ...(own === version ? [] : [`rehearse/package.json has version ${own} instead of ${version}`]),
    ...(asked === own ? [] : [`package.json asks for ${asked} instead of ${own}`]),
    ...Object.entries(pinsOf(rehearse ?? {}))
      .filter(([name, pin]) => (pins[name] ?? pin) !== pin)
      .map(
        ([name, pin]) => `rehearse/package.json asks for ${name} ${pin} instead of ${pins[name]}`,
      ),
  ]
}

function pinsOf(file: PackageFile): Readonly<Record<string, string>> {
  return { ...file.dependencies, ...file.devDependencies, ...file.optionalDependencies }
}

export function lockOffences(tree: Tree): string[] {
  const text = tree.get('package-lock.json')
  if (text === undefined) return ['package-lock.json is missing']
  const { packages = {} } = JSON.parse(text) as { packages?: Record<string, LockEntry> }
  const entries = Object.entries(packages)
  return [
    ...entries
      .filter(([, entry]) => entry.resolved !== undefined && !isWorkspace(tree, entry))
      .map(([path]) => `package-lock.json ties ${path} to the place it was fetched from`),
    ...entries
      .flatMap(([, entry]) => Object.entries(entry.optionalDependencies ?? {}))
      .filter(([name, version]) => !entries.some((entry) => provides(entry, name, version)))
      .map(([name, version]) => `package-lock.json lacks ${name} ${version}; run npm run lock`),
  ]
}

/** A link to a folder of this repository. */
function isWorkspace(tree: Tree, { link, resolved }: LockEntry): boolean {
  return link === true && tree.has(`${resolved}/package.json`)
}

function provides([path, entry]: [string, LockEntry], name: string, version: string): boolean {
  if (!path.endsWith(`node_modules/${name}`)) return false
  return entry.version === version || !EXACT_VERSION.test(version)
}

/** What the installed program may import. */
export function runtimePackagesOf(tree: Tree): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = packageOf(tree, 'package.json')
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
}

/** What a package names with an exact version. */
export function packagesOf(tree: Tree, path: PackagePath): string[] {
  return Object.keys(pinsOf(packageOf(tree, path)))
}

/** `machineFolders`: the folders of this checkout and of its owner. Tests may use such paths as examples. */
export function machineTraces(tree: Tree, machineFolders: readonly string[]): string[] {
  return [...tree].flatMap(([path, text]) => [
    ...(PACKAGE_HOST.test(text) ? [`${path} names a package host`] : []),
    ...machineFolders
      .filter((folder) => text.includes(folder))
      .map((folder) => `${path} names ${folder}`),
    ...(!isTest(path) && !path.startsWith('test/') && HOME_FOLDER.test(text)
      ? [`${path} names the home folder ${HOME_FOLDER.exec(text)?.[0]}…`]
      : []),
  ])
}

function packageOf(tree: Tree, path: PackagePath): PackageFile {
  return JSON.parse(tree.get(path) ?? '{}') as PackageFile
}
