import { writePlain } from './host/plain-line.ts'
import type { Streams } from './host/streams.ts'
import type { CliWorld } from './presenters/cli/world/world.ts'

/** Set by the build from package.json. */
declare const HAWSER_VERSION: string | undefined

/** The world as the launcher passes it. `argv` contains the arguments after the program name. */
export interface Invocation {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: () => string
  /** Default: those of this process. */
  readonly streams?: Streams
}

/**
 * Runs one command and resolves to its exit code. Does not end the process.
 * Each command is a dynamic import, so that only the parts it needs are loaded.
 */
export async function main(invocation: Invocation): Promise<number> {
  const { argv } = invocation
  const [only, ...more] = argv
  if (more.length === 0 && (only === '--version' || only === '-V')) {
    return printVersion(invocation.streams)
  }
  if (more.length === 0 && only === 'guest') {
    await prepareConversation()
    return guest(invocation.env)
  }
  await keepCompiled(invocation)
  const [{ runProgram }] = await Promise.all([
    import('./presenters/cli/program.ts'),
    isConversation(only) ? prepareConversation() : undefined,
  ])
  const open = (home: string) => opening(home, invocation.env)
  const skills = (home: string) => skillsAt(home, invocation.env)
  const serve = (home: string) => serving(home, invocation.env)
  const acp = (home: string) => editing(home, invocation.env)
  const own = { version: version(), open, skills, serve, acp }
  const parts = { ...invocation, ...own, models, scratch, rehearsal, mcp, proveBot }
  return runProgram(parts, argv)
}

/** The message for an error of `main` caused by the limit of open files; `undefined` for any other error. */
export function noDescriptorsLeft(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EMFILE' && code !== 'ENFILE') return undefined
  const limit =
    code === 'EMFILE'
      ? 'too many open files. Raise the limit of this process: ulimit -n 1024'
      : 'too many open files on this system. Close other programs, or raise fs.file-max.'
  return `hawser: ${limit}`
}

/** Loads nothing, so that printing the version takes no longer than starting Node. */
async function printVersion(streams: Invocation['streams']): Promise<number> {
  const line = `hawser ${version()}\n`
  if (streams !== undefined) {
    streams.stdout.write(line)
    return (await import('./presenters/cli/world/output-failure.ts')).exitAfterOutput(streams, 0)
  }
  const code = writePlain(1, line)
  if (code === undefined || code === 'EPIPE') return 0
  const { outputFailure } = await import('./presenters/cli/world/output-failure.ts')
  writePlain(2, outputFailure(code))
  return 1
}

/** Before most of the program is loaded. A program that passes its own streams keeps its own cache. */
async function keepCompiled({ env, streams }: Invocation): Promise<void> {
  if (streams !== undefined) return
  const { keepCompiledCode } = await import('./host/compile-cache.ts')
  keepCompiledCode(env)
}

/** Commands that write a few Events; all others may read very many. */
function isConversation(command: string | undefined): boolean {
  return command === undefined || command === 'run' || command === 'chat'
}

async function prepareConversation(): Promise<void> {
  const { checkWithoutCompiling } = await import('./host/light-checks.ts')
  checkWithoutCompiling()
  // Loaded while the command line is parsed; an error is thrown where the module is used.
  import('./compose/workspace.ts').catch(() => {})
}

/** Most of the program, loaded only when a workspace is opened. */
function opening(home: string, env: Invocation['env'], presenter = 'cli'): CliWorld['open'] {
  return async (path, options = {}) => {
    const { composeWorkspace } = await import('./compose/workspace.ts')
    return composeWorkspace(path, home, { ...options, presenter, env, version: version() })
  }
}

/** The program of an Instance. The server starts it, with a socket for frames and one for calls to a model. */
async function guest(env: Invocation['env']): Promise<number> {
  const { runGuest } = await import('./tether/guest/run-guest.ts')
  const { composeWorkspace } = await import('./compose/workspace.ts')
  const { homePath } = await import('./host/machine.ts')
  const { LIMITS } = await import('./model/limits.ts')
  const { relayFetch } = await import('./host/net/relay-fetch.ts')
  const { isRemoteProvider } = await import('./model/remote-providers.ts')
  return runGuest(({ workspace, records, provider, replay, images }, socket) => {
    const answers = { images: images ? LIMITS.frame_images : 0 }
    const relay = isRemoteProvider(provider) ? { provider, fetch: relayFetch(socket) } : undefined
    const options = { presenter: 'tether', questionMs: 0, make: true, env, version: version() }
    const own = { ...options, records, replay, answers, relay }
    return composeWorkspace(workspace, homePath(env), own)
  })
}

function serving(home: string, env: Invocation['env']): CliWorld['serve'] {
  return async (options) => {
    const [
      { serveHarness },
      { systemClock: clock },
      { systemIds },
      { composeInstances },
      mcp,
      bot,
      own,
    ] = await Promise.all([
      import('./presenters/http/serve.ts'),
      import('./host/clock.ts'),
      import('./host/ids.ts'),
      import('./compose/instances.ts'),
      import('./presenters/mcp/lazy-handler.ts'),
      import('./presenters/telegram/lazy-gateway.ts'),
      import('./host/process/own-program.ts'),
    ])
    const ids = systemIds(clock)
    const world: Parameters<typeof serveHarness>[0] = {
      home,
      version: version(),
      appFolder: own.ownAppFolder(),
      env,
      clock,
      ids,
      mcp: (parts) => mcp.lazyMcpHandler({ ...parts, version: version(), clock, ids }),
      openTether: (folder, note) =>
        composeInstances({ home: folder, path: home, env, clock, ids, note }),
      openTelegram: (parts) => bot.lazyGateway({ ...parts, clock, ids }),
      open: opening(home, env, 'http'),
      models: async (overrides: Parameters<CliWorld['models']>[0]) => {
        const { asOf, references, rows } = await models(overrides)
        return { asOf, models: rows(), references }
      },
    }
    return serveHarness(world, options)
  }
}

/** Nothing but messages reaches standard output from here on. */
function editing(home: string, env: Invocation['env']): CliWorld['acp'] {
  return async (stop) => {
    const { takeProtocolPipes } = await import('./host/process/protocol-pipes.ts')
    const pipes = takeProtocolPipes()
    stop.addEventListener('abort', () => pipes.stop())
    const [{ serveAcp }, { systemClock: clock }, { systemIds }] = await Promise.all([
      import('./presenters/acp/serve.ts'),
      import('./host/clock.ts'),
      import('./host/ids.ts'),
    ])
    return serveAcp({
      home,
      version: version(),
      env,
      clock,
      ids: systemIds(clock),
      open: opening(home, env, 'acp'),
      pipes,
      onDefect: (error) => {
        writePlain(2, `hawser: ${error instanceof Error ? error.stack : String(error)}\n`)
      },
    })
  }
}

function skillsAt(home: string, env: Invocation['env']): CliWorld['skills'] {
  return async (workspace, { folder }) => {
    const { composeSkills } = await import('./compose/workspace.ts')
    return composeSkills({ workspace, home, folder, env, version: version() })
  }
}

const models: CliWorld['models'] = async (overrides) => {
  const { catalogue } = await import('./providers/models/catalogue.ts')
  const { AS_OF, SOURCES } = await import('./providers/models/table.ts')
  return { ...catalogue(overrides), asOf: AS_OF, references: SOURCES }
}

const scratch: CliWorld['scratch'] = async () => {
  const { composeScratch } = await import('./compose/workspace.ts')
  return composeScratch({ presenter: 'cli', version: version() })
}

const rehearsal: CliWorld['rehearsal'] = async (options) => {
  const { composeRehearsal } = await import('./compose/rehearsal.ts')
  return composeRehearsal(options)
}

const proveBot: CliWorld['proveBot'] = async (access) => {
  const [telegram, { httpFetch }, { systemClock: clock }] = await Promise.all([
    import('./presenters/telegram/prove-bot.ts'),
    import('./host/net/http.ts'),
    import('./host/clock.ts'),
  ])
  return telegram.proveBot(access, { fetch: httpFetch(), clock })
}

const mcp: CliWorld['mcp'] = async (tether, { stop: stopped, redactor }) => {
  const { takeMessageStreams } = await import('./host/process/message-streams.ts')
  // Before anything else is loaded that could print.
  const streams = takeMessageStreams()
  const [{ serveMcp }, { hawserMcp }, { systemClock: clock }, { systemIds }] = await Promise.all([
    import('./presenters/mcp/serve.ts'),
    import('./presenters/mcp/hawser.ts'),
    import('./host/clock.ts'),
    import('./host/ids.ts'),
  ])
  const own = { clock, ids: systemIds(clock), version: version(), onDefect: printDefect }
  const served = { ...own, tether, redactor }
  await serveMcp({ ...hawserMcp(served), streams, clock, stop: stopped })
}

function printDefect(error: unknown): void {
  writePlain(2, `hawser: ${error instanceof Error ? (error.stack ?? error.message) : ''}\n`)
}

function version(): string {
  return typeof HAWSER_VERSION === 'undefined' ? '0.0.0-source' : HAWSER_VERSION
}
