import { randomBytes } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { picture } from '../support/resources/sample-files.ts'
import { install, newerNode, nodeIn, Unavailable } from '../support/npm/install.ts'
import { CLIENTS } from './pins.ts'
import { run } from '../support/npm/process.ts'

/**
 * Has acpx, a client of the Agent Client Protocol that is built on another major version of its SDK, drive the built
 * `hawser acp`: a tool loop with permissions allowed and denied, blocks of all kinds, a mode and options, a Session that is
 * created, prompted in a second process, cancelled in a command, listed, closed, and opened again by its id with its past. It
 * has no command for `session/delete`.
 */
const PROGRAM = fileURLToPath(new URL('../../dist/hawser.cjs', import.meta.url))
const SECONDS = 60
/** How long its process for a Session waits for the next prompt. A shorter time may end while that is on its way. */
const TTL_SECONDS = '30'
/** Its exit code if every question was answered with no. */
const DENIED = 5
const pin = CLIENTS.acpx
const loop = 'acpx over ACP'

const root = await mkdtemp(join(tmpdir(), 'hawser-client-'))
try {
  const started = performance.now()
  const { offences, requests } = await drive()
  for (const offence of offences) console.log(`${loop}: ${offence}`)
  const seconds = Number(((performance.now() - started) / 1000).toFixed(1))
  const completed = offences.length === 0
  console.log(
    JSON.stringify({ loop, version: pin.version, completed, calls: 6, requests, seconds }),
  )
} catch (error) {
  if (!(error instanceof Unavailable)) throw error
  console.log(JSON.stringify({ loop, version: pin.version, skipped: error.message }))
} finally {
  // Its process for the last Session may still be writing.
  await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 })
}

async function drive() {
  const modules = await install(root, [pin, ...newerNode()])
  const [home, hawserHome, workspace] = ['home', 'hawser', 'workspace'].map((name) =>
    join(root, name),
  )
  if (home === undefined || hawserHome === undefined || workspace === undefined)
    throw new Error(root)
  for (const folder of [home, hawserHome, workspace]) await mkdir(folder, { mode: 0o700 })
  const word = `anchor-${randomBytes(8).toString('hex')}`
  await writeFile(join(workspace, 'notes.txt'), `${word}\n`)
  const agent = `${process.execPath} ${PROGRAM} acp`
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    HAWSER_HOME: hawserHome,
    HAWSER_PROVIDER: 'rehearsal',
  }
  const offences: string[] = []
  let requests = 0
  const acpx = async (expected: string, ...args: readonly string[]) => {
    requests += 1
    const program = [nodeIn(modules), join(modules, '.bin', 'acpx')]
    const options = ['--agent', agent, '--cwd', workspace, '--ttl', TTL_SECONDS]
    const ran = await run([...program, ...options, ...args], {
      cwd: workspace,
      env,
      seconds: SECONDS,
    })
    const code = args.includes('--deny-all') ? DENIED : 0
    if (ran.code !== code || !ran.stdout.includes(expected)) {
      offences.push(
        `${args.join(' ')}: exit code ${ran.code}, ${ran.stdout}${ran.stderr}`.slice(0, 2000),
      )
    }
    return ran.stdout
  }

  await acpx(word, '--approve-all', 'exec', 'read notes.txt, then run "cp notes.txt copy.txt"')
  const copy = await readFile(join(workspace, 'copy.txt'), 'utf8').catch(() => '')
  if (!copy.includes(word)) offences.push('the copy does not exist')
  await acpx('[done] end_turn', '--deny-all', 'exec', 'Write "a" to denied.txt')
  const denied = await readFile(join(workspace, 'denied.txt'), 'utf8').catch(() => undefined)
  if (denied !== undefined) offences.push('a denied call has run')
  await writeFile(join(root, 'blocks.json'), JSON.stringify(blocks(workspace)))
  await acpx('[done] end_turn', '--approve-all', 'exec', '-f', join(root, 'blocks.json'))
  const [id = ''] = /ses_\w+/.exec(await acpx('ses_', 'sessions', 'new')) ?? []
  await acpx('auto', 'set-mode', 'auto')
  await acpx('effort=high', 'set', 'effort', 'high')
  await acpx('provider=rehearsal', 'set', 'provider', 'rehearsal')
  await acpx('rehearsal', 'set', 'model', 'rehearsal')
  await acpx(word, '--approve-all', 'prompt', 'read notes.txt')
  await acpx('Created rope.txt', '--approve-all', 'prompt', 'Write "moored" to rope.txt')
  await acpx('rope.txt: removed', 'prompt', '/undo')
  const long = 'run `touch begun; sleep 50`'
  const running = acpx('[done] cancelled', '--approve-all', 'prompt', long)
  await exists(join(workspace, 'begun'))
  await acpx('cancel requested', 'cancel')
  await running
  await acpx('read notes.txt', 'sessions', 'list', '--filter-cwd', workspace)
  await acpx('ses_', 'sessions', 'close')
  await acpx(id, 'sessions', 'new', '--resume-session', id)
  await acpx('[done] end_turn', '--approve-all', 'prompt', 'Hello')
  await acpx('ses_', 'sessions', 'close')
  return { offences, requests }
}

/** A command has begun; if it never does, what follows fails. */
async function exists(path: string): Promise<void> {
  for (let tries = 0; tries < SECONDS * 10; tries += 1) {
    const found = await access(path).then(
      () => true,
      () => false,
    )
    if (found) return
    await setTimeout(100)
  }
}

function blocks(workspace: string): readonly object[] {
  return [
    { type: 'text', text: 'What do you see in this picture?' },
    { type: 'image', data: picture(7).toString('base64'), mimeType: 'image/png' },
    { type: 'resource_link', uri: `file://${workspace}/notes.txt`, name: 'notes.txt' },
    { type: 'resource_link', uri: 'https://example.com/tides', name: 'tides' },
    { type: 'resource', resource: { uri: 'file:///a.ts', text: 'let a = 1' } },
  ]
}
