import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

/** A project that has the packed package installed, and the packages that it depends on. */
async function projectWithPackage(): Promise<string> {
  const project = await freshFolder()
  await run(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: ROOT })
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', project], { cwd: ROOT })
  const packed = (await readdir(project)).find((name) => name.endsWith('.tgz')) ?? ''
  const installed = join(project, 'node_modules', 'hawser')
  await mkdir(installed, { recursive: true })
  await run('tar', ['-xzf', join(project, packed), '-C', installed, '--strip-components=1'])
  const names = await readdir(join(ROOT, 'node_modules'))
  for (const name of names.filter((one) => !one.startsWith('.')))
    await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
  await writeFile(join(project, 'package.json'), '{"type":"module"}')
  return project
}

/** As strict as TypeScript can be, also about the declarations of the package. */
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitReturns: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023', 'es2024.string'],
  types: ['node'],
}

async function exampleOf(document: string): Promise<string> {
  const text = await readFile(join(ROOT, 'docs', document), 'utf8')
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(text) ?? []
  return example
}

test(
  'the example of docs/library.md compiles strictly against the packed package, and runs',
  { timeout: 240_000 },
  async () => {
    const project = await projectWithPackage()
    await writeFile(join(project, 'example.ts'), await exampleOf('library.md'))
    const settings = { compilerOptions: { ...STRICT, outDir: 'out' }, files: ['example.ts'] }
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(settings))
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    const compiling = run(process.execPath, [tsc, '-p', project]).then(() => 'compiled', String)
    expect(await compiling).toBe('compiled')
    const workspace = await freshFolder()
    const home = join(await freshFolder(), 'home')
    const { PATH } = process.env
    const { stdout } = await run(process.execPath, [join(project, 'out', 'example.js')], {
      cwd: workspace,
      env: { PATH, HAWSER_HOME: home },
    })
    expect(stdout).toContain('  1  Yes, once')
    expect(stdout).toContain('permission_decision')
    expect(stdout).toMatch(/^completed: /m)
    expect(stdout).toMatch(/^true$/m)
    expect(stdout).toMatch(/Events, damaged: false$/m)
    expect(await readFile(join(workspace, 'notes.txt'), 'utf8')).toContain('Tide at noon.')
  },
)
