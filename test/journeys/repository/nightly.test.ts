import { execFile, spawn } from 'node:child_process'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'

const NIGHTLY = fileURLToPath(new URL('../../../scripts/nightly.mjs', import.meta.url))

interface Nightly {
  readonly folder: string
  readonly args: readonly string[]
}

test('a stopped run continues after what passed, and a failed script runs again', async () => {
  const nightly = await standIns()
  const { folder } = nightly

  // The second fails, and the third waits until the run is stopped.
  const stopped = spawn(process.execPath, [NIGHTLY, ...nightly.args], { stdio: 'ignore' })
  onTestFinished(() => void stopped.kill('SIGKILL'))
  await expect.poll(() => exists(join(folder, 'third.count'))).toBe(true)
  const exited = new Promise((resolve) => void stopped.once('exit', resolve))
  stopped.kill('SIGTERM')
  expect(await exited).toBe(130)

  await writeFile(join(folder, 'go'), '')
  const { code, lines } = await run(nightly)
  expect(lines).toEqual([
    'passed before first: 1 figures',
    'ok second: 2 figures',
    'ok third: 2 figures',
    '3 passed, 0 failed',
  ])
  expect(code).toBe(0)
  expect(await run(nightly)).toEqual({
    code: 0,
    lines: [
      'passed before first: 1 figures',
      'passed before second: 2 figures',
      'passed before third: 2 figures',
      '3 passed, 0 failed',
    ],
  })
})

test('a failure shows the output and the exit code, and what passed on another commit runs again', async () => {
  const nightly = await standIns()
  const state = join(nightly.folder, 'state.json')
  expect(await run(nightly, 'first', 'second')).toEqual({
    code: 1,
    lines: [
      'ok first: 1 figures',
      '  the disk is full',
      '  1 figures',
      'failed second: 1 figures',
      '1 passed, 1 failed',
    ],
  })
  expect((await run(nightly, '--list')).lines).toEqual([
    'passed first',
    'open second',
    'open third',
  ])
  const kept = await readFile(state, 'utf8')
  await writeFile(state, kept.replace(/"commit": "\w/, '"commit": "x'))
  expect((await run(nightly, 'first')).lines).toEqual(['ok first: 2 figures', '1 passed, 0 failed'])
  expect((await run(nightly, 'first', '--again')).lines[0]).toBe('ok first: 3 figures')
})

test('the scripts are those of the faults, the benchmarks and the clients, and the help describes the options', async () => {
  const { stdout: listed } = await promisify(execFile)(process.execPath, [NIGHTLY, '--list'])
  expect(listed).toMatch(/ faults\/crash\n/)
  expect(listed).toMatch(/ bench\/start\n/)
  expect(listed).toMatch(/ clients\/codex\n/)
  const { stdout: help } = await promisify(execFile)(process.execPath, [NIGHTLY, '--help'])
  expect(help.match(/^ {2}--\w+/gm)).toEqual(['  --list', '  --again', '  --state', '  --suites'])
})

/** Three scripts that count how often they ran. Until there is a file `go`, the second fails and the third does not end. */
async function standIns(): Promise<Nightly> {
  const folder = await freshFolder()
  const script = join(folder, 'stand-in.mjs')
  await writeFile(
    script,
    `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
     const [name, without] = process.argv.slice(2)
     const file = '${folder}/' + name + '.count'
     const count = existsSync(file) ? Number(readFileSync(file)) + 1 : 1
     writeFileSync(file, String(count))
     const isReady = existsSync('${folder}/go')
     if (without === 'wait' && !isReady) setInterval(() => {}, 1000)
     if (without === 'fail' && !isReady) console.log('the disk is full')
     console.log(count + ' figures')
     if (without === 'fail' && !isReady) process.exitCode = 3`,
  )
  const suites = join(folder, 'suites.json')
  const named = (name: string, without: string) => ({
    name,
    command: [process.execPath, script, name, without],
  })
  const all = [named('first', 'pass'), named('second', 'fail'), named('third', 'wait')]
  await writeFile(suites, JSON.stringify(all))
  return { folder, args: ['--suites', suites, '--state', join(folder, 'state.json')] }
}

async function run(
  { args }: Nightly,
  ...more: readonly string[]
): Promise<{ code: number; lines: readonly string[] }> {
  const child = spawn(process.execPath, [NIGHTLY, ...args, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number>(
    (resolve) => void child.on('close', (ended) => resolve(ended ?? -1)),
  )
  // How long it took is not the same each time.
  return {
    code,
    lines: output
      .trimEnd()
      .replaceAll(/ \(\d+ s\)/g, '')
      .split('\n'),
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
