import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { EXIT_CODES } from '../../../src/model/exit-codes.ts'
import { ErrorBody } from '../../../src/model/error-shape.ts'
import { Output } from '../../../src/presenters/cli/commands/rehearse.ts'
import { freshFolder } from '../../support/host/folder.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

const Packed = z.tuple([
  z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }),
])

/** Packages that the built program loads from `node_modules`. */
const LOADED = ['fs-native-extensions', 'unpdf']

let archives: string
const files: Record<'hawser' | 'hawser-rehearse', readonly string[]> = {
  hawser: [],
  'hawser-rehearse': [],
}

beforeAll(async () => {
  await run(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: ROOT })
  archives = await freshFolder()
  files.hawser = await packed()
  files['hawser-rehearse'] = await packed('--workspace', 'rehearse')
})

/** Packs a package into `archives`, and returns the paths in it. */
async function packed(...which: readonly string[]): Promise<readonly string[]> {
  const args = ['pack', '--json', '--pack-destination', archives, ...which]
  const { stdout } = await run('npm', args, { cwd: ROOT, maxBuffer: 2 ** 24 })
  return Packed.parse(JSON.parse(stdout))[0].files.map(({ path }) => path)
}

interface Installed {
  readonly program: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A folder in which the packages are installed as npm does it. */
async function installed(...names: readonly (keyof typeof files)[]): Promise<Installed> {
  const folder = await freshFolder()
  const modules = join(folder, 'node_modules')
  for (const name of names) {
    const archive = (await readdir(archives)).find((path) => path.startsWith(`${name}-0`)) ?? ''
    await mkdir(join(modules, name), { recursive: true })
    const place = ['--directory', join(modules, name), '--strip-components=1']
    await run('tar', ['--extract', '--gzip', '--file', join(archives, archive), ...place])
  }
  for (const name of LOADED) await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  const env = { PATH: process.env['PATH'], HAWSER_HOME: join(folder, 'home') }
  return { program: join(modules, 'hawser', 'dist', 'hawser.cjs'), env }
}

test('the package hawser contains nothing of the server, and hawser-rehearse only what is built', () => {
  const root = /^(dist\/(?!types\/rehearse\/)|(package\.json|README\.md|LICENSE|docs\/hawser\.1)$)/
  expect(files.hawser.filter((path) => !root.test(path))).toEqual([])
  expect(files.hawser).toContain('dist/hawser.cjs')
  expect(files.hawser.filter((path) => /\.request-.*\.js/.test(path))).toEqual([])
  expect(files['hawser-rehearse']).toContain('dist/rehearse.js')
  const own = /^(dist\/|(package\.json|README\.md)$)/
  expect(files['hawser-rehearse'].filter((path) => !own.test(path))).toEqual([])
})

test.each(['rehearse', 'cache probe'])(
  'the installed program without hawser-rehearse says how to get it: %s',
  async (command) => {
    const { program, env } = await installed('hawser')
    const argv = [program, ...command.split(' '), '--json']
    const outcome = await run(process.execPath, argv, { env }).catch((error: unknown) => error)
    expect(outcome).toMatchObject({ code: EXIT_CODES.not_configured, stderr: '' })
    const { stdout } = z.object({ stdout: z.string() }).parse(outcome)
    expect(ErrorBody.parse(JSON.parse(stdout)).error).toMatchObject({
      kind: 'not_configured',
      details: { package: 'hawser-rehearse' },
      next_actions: [{ command: 'npm install PATH/hawser-rehearse-VERSION.tgz' }],
    })
  },
)

test('the installed program serves the offline model with hawser-rehearse beside it', async () => {
  const { program, env } = await installed('hawser', 'hawser-rehearse')
  const serving = spawn(process.execPath, [program, 'rehearse', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void serving.kill('SIGKILL'))
  const ended = once(serving, 'close')
  let text = ''
  serving.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  while (!text.endsWith('}\n')) {
    await Promise.race([once(serving.stdout, 'data'), ended])
    if (serving.exitCode !== null) throw new Error(`it ended with ${serving.exitCode}`)
  }
  const { base_urls } = Output.parse(JSON.parse(text))
  const answer = await fetch(`${base_urls.openai}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer offline', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Who are you?' }] }),
  })
  expect(await answer.text()).toContain('I am the offline demo model')
  serving.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
