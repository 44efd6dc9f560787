import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram } from '../../support/cli/program.ts'
import { serveHttp } from '../../support/host/loopback-server.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'

async function place(): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  return root
}

test('the built program prints its help', async () => {
  const { ended, stdout } = await startProgram({ root: await place() }, ['--help'])
  expect(await ended).toMatchObject({ code: 0 })
  expect(stdout()).toContain('Usage: hawser')
})

const INSPECTED = 'Debugger listening'

test('SIGUSR1 does not start the inspector of Node', async () => {
  const { child, waitFor, stderr, stdout, ended } = await startProgram(
    { root: await place(), env: { NODE_OPTIONS: '--inspect-port=0' } },
    ['rehearse'],
  )
  await waitFor('http://')
  const origin = /http:\/\/[\d.]+:\d+/.exec(`${stdout()}${stderr()}`)?.[0] ?? ''
  for (let times = 0; times < 10; times++) {
    child.kill('SIGUSR1')
    await fetch(origin).then((answer) => answer.arrayBuffer())
  }
  child.kill('SIGTERM')
  await ended
  expect(stderr()).not.toMatch(/debugger|inspector/i)
})

test('without a listener, SIGUSR1 starts the inspector of Node', async () => {
  const script = 'setInterval(() => {}, 1000); console.error("ready")'
  const child = spawn(process.execPath, ['--inspect-port=0', '-e', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  for await (const chunk of child.stderr) {
    text += String(chunk)
    if (text.includes('ready')) child.kill('SIGUSR1')
    if (text.includes(INSPECTED)) break
  }
  expect(text).toContain(INSPECTED)
})

test.each([19, 20, 21].flatMap((limit) => [true, false].map((inParts) => ({ limit, inParts }))))(
  'with at most $limit open files it reports the limit and exits (in several files: $inParts)',
  async ({ limit, inParts }) => {
    const under = ['/bin/sh', '-c', `ulimit -n ${limit} && exec "$@"`, 'sh']
    const started = await startProgram({ root: await place(), under, inParts }, ['run', 'hello'])
    expect(await started.ended).toEqual({ code: 1, signal: null })
    expect(started.stderr()).toMatch(/Raise .*: ulimit -n 1024\n$/)
    expect(started.stderr().trim().split('\n').length).toBeLessThan(3)
  },
)

test('starts that run compiled code do what the first one did, also after it was damaged', async () => {
  const root = await place()
  const home = join(root, 'home')
  await mkdir(home, { mode: 0o700 })
  await writeFile(join(root, 'workspace', 'notes.txt'), 'The tide turns at six.')
  const start = async () => {
    const argv = ['run', 'read notes.txt', '--output', 'text']
    const { ended, stdout, stderr } = await startProgram({ root, inParts: true }, argv)
    const { code } = await ended
    return [code, stdout(), stderr().includes('Warning')]
  }
  const first = await start()
  expect(first).toEqual([0, expect.stringContaining('The tide turns at six.'), false])
  const [folder = ''] = await readdir(join(home, 'cache'))
  const names = await readdir(join(home, 'cache', folder))
  expect(names.length).toBeGreaterThan(5)
  expect(await start()).toEqual(first)
  for (const name of names) await truncate(join(home, 'cache', folder, name), 1000)
  expect(await start()).toEqual(first)
  expect(await start()).toEqual(first)
})

const CLIENT_OF_NODE = 'NativeModule internal/deps/undici/undici'

/** Writes the modules of Node that were loaded, at the end of a process. */
async function loadedModules(root: string) {
  const [script, list] = [join(root, 'list.cjs'), join(root, 'loaded')]
  const write = `require('node:fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join('\\n'))`
  await writeFile(script, `process.on('exit', () => ${write})`)
  const loaded = async () => (await readFile(list, 'utf8')).split('\n')
  return { option: `--require ${script}`, loaded }
}

test.each(['anthropic', 'openai', 'openai-chat'] as const)(
  'a Turn with %s does not load the HTTP client of Node',
  async (provider) => {
    const root = await place()
    const dialects = { anthropic: 'messages', openai: 'responses', 'openai-chat': 'chat' } as const
    const { url } = await serveHttp((request, response) => {
      request.resume().once('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(sseOf(dialects[provider], { text: 'Done.' }))
      })
    })
    const { option, loaded } = await loadedModules(root)
    const env = {
      NODE_OPTIONS: option,
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_BASE_URL: url,
      OPENAI_API_KEY: 'key',
      OPENAI_BASE_URL: `${url}v1`,
      HAWSER_OPENAI_TRANSPORT: 'http-sse',
    }
    const argv = ['run', 'hello', '--provider', provider]
    const { ended, stdout } = await startProgram({ root, env, inParts: true }, argv)
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(stdout()).toContain('Done.')
    expect(await loaded()).not.toContain(CLIENT_OF_NODE)
  },
)

test('creating headers of Node loads its HTTP client', async () => {
  const { option, loaded } = await loadedModules(await place())
  const child = spawn(process.execPath, ['-e', 'new Headers()'], { env: { NODE_OPTIONS: option } })
  await once(child, 'exit')
  expect(await loaded()).toContain(CLIENT_OF_NODE)
})
