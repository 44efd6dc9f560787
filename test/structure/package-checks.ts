import { isTest, type Tree } from './source.ts'

const EXACT_VERSION = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/
const HOME_FOLDER = /(?<![\w.~-])\/(root|home\/[a-z][\w.-]*|Users\/[A-Za-z][\w.-]*)\/[\w.]/
const PACKAGE_HOST = /registry\.(npmjs|yarnpkg)/

interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

interface LockEntry {
  readonly version?: string
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export function versionsNotExact(tree: Tree): string[] {
  const { dependencies, devDependencies, optionalDependencies } = packageOf(tree)
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([, version]) => !EXACT_VERSION.test(version))
    .map(([name, version]) => `package.json asks for ${name} ${version}; give one exact version`)
}

export function lockOffences(tree: Tree): string[] {
  const text = tree.get('package-lock.json')
  if (text === undefined) return ['package-lock.json is missing']
  const { packages = {} } = JSON.parse(text) as { packages?: Record<string, LockEntry> }
  const entries = Object.entries(packages)
  return [
    ...entries
      .filter(([, entry]) => entry.resolved !== undefined)
      .map(([path]) => `package-lock.json ties ${path} to the place it was fetched from`),
    ...entries
      .flatMap(([, entry]) => Object.entries(entry.optionalDependencies ?? {}))
      .filter(([name, version]) => !entries.some((entry) => provides(entry, name, version)))
      .map(([name, version]) => `package-lock.json lacks ${name} ${version}; run npm run lock`),
  ]
}

function provides([path, entry]: [string, LockEntry], name: string, version: string): boolean {
  if (!path.endsWith(`node_modules/${name}`)) return false
  return entry.version === version || !EXACT_VERSION.test(version)
}

/** What the installed program may import. */
export function runtimePackagesOf(tree: Tree): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = packageOf(tree)
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
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

function packageOf(tree: Tree): PackageFile {
  return JSON.parse(tree.get('package.json') ?? '{}') as PackageFile
}
