import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TINY_IMAGES } from '../support/tiny-images.ts'
import { install, newerNode, nodeIn, Unavailable } from './install.ts'
import { INSPECTOR } from './pins.ts'
import { run } from './process.ts'
import { startUp } from './up.ts'

/**
 * Has the command line of the MCP inspector delegate work to an Instance, over stdio and over HTTP: create it, send a message,
 * read the answer with the cursor that was returned, and get an image of the agent.
 */
const PROGRAM = fileURLToPath(new URL('../../dist/hawser.js', import.meta.url))
const SECONDS = 60
const READS = 20

interface Called {
  readonly content: readonly { readonly type: string; readonly data?: string }[]
  readonly structuredContent: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

const root = await mkdtemp(join(tmpdir(), 'hawser-client-'))
const loops = ['the MCP inspector over stdio', 'the MCP inspector over HTTP'] as const
const { version } = INSPECTOR
try {
  const modules = await install(root, [INSPECTOR, ...newerNode()])
  for (const loop of loops) await drive(loop, modules)
} catch (error) {
  if (!(error instanceof Unavailable)) throw error
  for (const loop of loops) console.log(JSON.stringify({ loop, version, skipped: error.message }))
} finally {
  await rm(root, { recursive: true, force: true })
}

async function drive(loop: (typeof loops)[number], modules: string): Promise<void> {
  const place = await mkdtemp(join(root, 'place-'))
  // Where it is without HAWSER_HOME: hosts pass few variables on to the programs that they start.
  const [home, workspace] = [join(place, '.hawser'), join(place, 'works', 'a')]
  await mkdir(workspace, { recursive: true })
  await mkdir(home, { mode: 0o700 })
  await writeFile(
    join(home, 'config.json'),
    JSON.stringify({ instances: { roots: [join(place, 'works')] } }),
    { mode: 0o600 },
  )
  const server = await startUp(place, home)
  try {
    await talk(loop, { modules, place, home, workspace, origin: server.origin })
  } finally {
    await server.stop()
  }
}

interface Place {
  readonly modules: string
  readonly place: string
  readonly home: string
  readonly workspace: string
  readonly origin: string
}

async function talk(
  loop: (typeof loops)[number],
  { modules, place, home, workspace, origin }: Place,
): Promise<void> {
  const started = performance.now()
  const token = (await readFile(join(home, 'token'), 'utf8')).trim()
  const target =
    loop === loops[0]
      ? [process.execPath, PROGRAM, 'mcp']
      : [`${origin}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`]
  let calls = 0
  const inspect = async (...args: readonly string[]): Promise<unknown> => {
    calls += 1
    const cli = join(modules, '.bin', 'mcp-inspector')
    const { code, stdout, stderr } = await run(
      [nodeIn(modules), cli, '--cli', ...target, ...args],
      {
        cwd: place,
        env: { PATH: process.env['PATH'], HOME: place },
        seconds: SECONDS,
      },
    )
    // Also for a result that is an error.
    if (code !== 0 && !stdout.includes('isError'))
      throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
    return JSON.parse(stdout)
  }
  const call = async (tool: string, args: Readonly<Record<string, unknown>>) => {
    const given = Object.entries(args).flatMap(([name, value]) => [
      '--tool-arg',
      `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ])
    return (await inspect('--method', 'tools/call', '--tool-name', tool, ...given)) as Called
  }
  const ask = async (text: string): Promise<Called> => {
    const { structuredContent: sent } = await call('tether_send', { instance: 'a', text })
    const cursor = { instance: 'a', reply_to_msg_id: sent['msg_id'], wait_ms: 20_000 }
    for (let reads = 0, after_seq = sent['ingress_seq']; reads < READS; reads++) {
      const read = await call('tether_read', { ...cursor, after_seq })
      if ((read.structuredContent['frames'] as unknown[]).length > 0) return read
      after_seq = read.structuredContent['next_seq']
    }
    throw new Error('no answer')
  }
  const { tools } = (await inspect('--method', 'tools/list')) as { tools: { name: string }[] }
  await call('instance_create', { handle: 'a', workspace })
  const ran = await ask('Run `echo forty > berths.txt`')
  const pixels = TINY_IMAGES.png
  await writeFile(join(workspace, 'chart.png'), pixels)
  const attached = await ask('Attach chart.png to your answer.')
  const refused = await call('instance_info', { instance: 'nobody' })
  const facts = {
    tools: tools.length,
    written: (await readFile(join(workspace, 'berths.txt'), 'utf8')).trim(),
    items: [ran, attached].map(({ content }) => content.map(({ type }) => type)),
    image: attached.content[1]?.data === pixels.toString('base64'),
    refused: refused.isError,
  }
  const expected = {
    tools: 7,
    written: 'forty',
    items: [['text'], ['text', 'image']],
    image: true,
    refused: true,
  }
  const [found, wanted] = [JSON.stringify(facts), JSON.stringify(expected)]
  if (found !== wanted) console.log(`${loop}: ${found} instead of ${wanted}`)
  const seconds = Number(((performance.now() - started) / 1000).toFixed(1))
  const completed = found === wanted
  console.log(JSON.stringify({ loop, version, completed, calls, requests: calls, seconds }))
}
