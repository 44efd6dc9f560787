import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { picture } from '../support/resources/drawing.ts'
import { strictServer } from '../support/providers/strict-server.ts'
import { delegatingBrain } from './delegating-model.ts'
import { install, newerNode, Unavailable } from '../support/npm/install.ts'
import { HOSTS, type HostPlace, type McpHost } from './mcp-hosts.ts'
import { run } from '../support/npm/process.ts'

/**
 * Adds `hawser mcp` to hosts of other vendors by the commands and settings in docs/mcp.md, and asks the hosts whether it is
 * connected. Hosts whose model can be played on this machine then delegate a task: a call starts the local server, a read
 * waits for 30 s, the agent runs a command, and its image reaches the model of the host.
 */
const PROGRAM = fileURLToPath(new URL('../../dist/hawser.cjs', import.meta.url))
const DOCUMENT = fileURLToPath(new URL('../../docs/mcp.md', import.meta.url))
const SECONDS = 180
const NOWHERE = 'http://127.0.0.1:9'

const root = await mkdtemp(join(tmpdir(), 'hawser-client-'))
try {
  const document = await readFile(DOCUMENT, 'utf8')
  for (const host of HOSTS) await verify(host, document)
} finally {
  await rm(root, { recursive: true, force: true })
}

async function verify(host: McpHost, document: string): Promise<void> {
  const { pin, name } = host
  const loop = `${name} as a host of MCP`
  const { version } = pin
  const started = performance.now()
  const folder = await mkdtemp(join(root, 'host-'))
  try {
    const modules = await install(folder, [pin, ...newerNode()])
    const place = await prepare(folder, host, await host.program(modules))
    await host.add(place, document)
    const unlisted = await unlistedIn(place, host.list, host.listed)
    const delegated = await delegate(host, place)
    const offences = [
      ...unlisted,
      ...delegated.offences,
      ...(await overHttp(host, place, document)),
    ]
    for (const offence of offences) console.log(`${loop}: ${offence}`)
    const completed = offences.length === 0
    const seconds = Number(((performance.now() - started) / 1000).toFixed(1))
    const { calls, requests } = delegated
    console.log(JSON.stringify({ loop, version, completed, calls, requests, seconds }))
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    console.log(JSON.stringify({ loop, version, skipped: error.message }))
  }
}

interface Prepared extends HostPlace {
  readonly workspace: string
}

/** A home with the settings of a person who tries Hawser without a key, and commands in a path of its own. */
async function prepare(
  folder: string,
  { command }: McpHost,
  program: readonly string[],
): Promise<Prepared> {
  const [home, bin, project] = ['home', 'bin', 'project'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const workspace = join(folder, 'works', 'a')
  for (const path of [home, bin, project, workspace]) await mkdir(path, { recursive: true })
  await mkdir(join(home, '.hawser'), { mode: 0o700 })
  const settings = JSON.stringify({
    provider: 'rehearsal',
    instances: { roots: [join(folder, 'works')] },
  })
  await writeFile(join(home, '.hawser', 'config.json'), settings, { mode: 0o600 })
  const commands = { hawser: [process.execPath, PROGRAM], [command]: program }
  for (const [name, words] of Object.entries(commands)) {
    const line = words.map((word) => `'${word}'`).join(' ')
    await writeFile(join(bin, name), `#!/bin/sh\nexec ${line} "$@"\n`)
    await chmod(join(bin, name), 0o755)
  }
  const env = {
    PATH: `${bin}:/usr/bin:/bin`,
    HOME: home,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    HTTP_PROXY: NOWHERE,
    HTTPS_PROXY: NOWHERE,
    NO_PROXY: '127.0.0.1',
  }
  const shell: HostPlace['shell'] = (line, more = {}) =>
    run(['/bin/sh', '-c', line], { cwd: project, env: { ...env, ...more }, seconds: SECONDS })
  return { home, project, workspace, shell }
}

async function unlistedIn(
  { shell }: HostPlace,
  list: string,
  listed: RegExp,
): Promise<readonly string[]> {
  const { stdout, stderr } = await shell(list)
  const printed = stripVTControlCharacters(stdout + stderr)
  return listed.test(printed) ? [] : [`${list} printed ${printed}`]
}

async function overHttp(
  host: McpHost,
  place: HostPlace,
  document: string,
): Promise<readonly string[]> {
  if (host.overHttp === undefined) return []
  const [lines, listed] = host.overHttp(document)
  try {
    const { code, stdout, stderr } = await place.shell(lines)
    if (code !== 0) return [`${lines} ended with ${code}: ${stdout}${stderr}`]
    return await unlistedIn(place, host.list, listed)
  } finally {
    await place.shell('hawser down')
  }
}

async function delegate(host: McpHost, place: Prepared) {
  if (host.delegate === undefined) return { offences: [], calls: 0, requests: 0 }
  const { workspace, shell } = place
  await writeFile(join(workspace, 'notes.txt'), 'high water at noon\n')
  await writeFile(join(workspace, 'chart.png'), picture(4))
  const task = 'Run "cp notes.txt copy.txt", then attach chart.png to your answer.'
  const bodies: string[] = []
  let calls = 0
  const think = delegatingBrain(task, workspace)
  const model = await strictServer({
    brain: async (request) => {
      const thought = await think(request)
      calls += thought.calls.length
      return thought
    },
    onRequest: ({ bytes }) => void bodies.push(bytes.toString('utf8')),
  })
  if (!model.ok) throw new Error(model.error.message)
  try {
    const { code, stdout, stderr } = await host.delegate(place, model.value.lenientOrigin)
    const copy = await readFile(join(workspace, 'copy.txt'), 'utf8').catch(() => 'missing')
    const offences = [
      ...(code === 0 ? [] : [`ended with ${code ?? 'a timeout'}: ${stdout}${stderr}`]),
      ...(stdout.includes('assistant.done') ? [] : [`the answer has no assistant.done: ${stdout}`]),
      ...(copy === 'high water at noon\n' ? [] : [`copy.txt is ${copy}`]),
      ...wrongImage(host, bodies.at(-1) ?? ''),
    ]
    return { offences, calls, requests: bodies.length }
  } finally {
    await shell('hawser down')
    await model.value.close()
  }
}

function wrongImage({ image }: McpHost, body: string): readonly string[] {
  if (image === undefined || image.pattern.test(body) === image.arrives) return []
  return [image.arrives ? 'its model received no image' : 'its model received an image']
}
