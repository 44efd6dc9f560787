import { join } from 'node:path'
import { jsonRedactor } from '../../encoding/redaction.ts'
import { backgroundTimer } from '../../host/background-timer.ts'
import { timestamp, type Clock } from '../../host/clock.ts'
import { takeServerLock, type ServerRecord } from '../../host/server/server-lock.ts'
import { pageCodes } from '../../host/server/page-codes.ts'
import { LEFTOVER_MS, removeLeftovers } from '../../host/server/leftover-files.ts'
import type { RunningServer, ServeOptions } from '../../host/server/running-server.ts'
import { newSecret } from '../../host/server/secret.ts'
import { serverLog, type ServerLog } from '../../host/server/server-log.ts'
import { appFiles } from '../../host/server/app-files.ts'
import { keptValues, type KeptValues } from '../../host/server/kept-values.ts'
import { stagedFiles, type StagedFiles } from '../../host/server/staged-files.ts'
import { serverToken } from '../../host/server/token-file.ts'
import { asResult, type Folder } from '../../host/files/files.ts'
import { openHome, type HomeFolders } from '../../host/home.ts'
import type { Ids } from '../../host/ids.ts'
import { serveFetch, type FetchServer } from '../../host/net/fetch-server.ts'
import { thisProcess } from '../../host/process/holder.ts'
import { workspaceRegister } from '../../host/workspace-register.ts'
import { ok, type Result } from '../../model/errors.ts'
import { MessageDraft, WaitingMessage } from '../../model/messages/message-draft.ts'
import type { Settings } from '../../model/settings.ts'
import { secretsOf } from '../../session/settings/credentials.ts'
import { loadSettings } from '../../session/settings/settings.ts'
import type { SessionGrants } from '../../session/live/session-parts.ts'
import type { OpenAt } from '../../session/workspace/workspace.ts'
import type { Tether } from '../../tether/tether.ts'
import { httpApp } from './app.ts'
import type { ChatGateway, McpRoute, ServedModels, ServerParts } from './server-parts.ts'
import { messageQueues, type QueueStore } from './message-queues.ts'
import { recentKeys } from './exchange/recent-keys.ts'
import { settledQuestions } from './exchange/settled-questions.ts'
import type { FailureAnswer } from './exchange/failure-answer.ts'
import { defectText, guardAnswer } from './translate.ts'
import { LastOutcomes } from '../../session/queries/turn-outcomes.ts'
import { openWorkspaces } from '../../session/workspace/open-workspaces.ts'

/** The world of the server; the composition root creates it. */
export interface ServerWorld {
  /** Path of `$HAWSER_HOME`. */
  readonly home: string
  readonly version: string
  /** The folder of the built app for browsers; it may be missing. */
  readonly appFolder: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly ids: Ids
  readonly open: OpenAt
  readonly models: (overrides: NonNullable<Settings['models']>) => Promise<ServedModels>
  /** Opens the Instances of the home. */
  readonly openTether: (home: Folder, note: Note) => Promise<Result<OpenTether>>
  /** What serves the Instances over MCP. */
  readonly mcp: (parts: Pick<ServerParts, 'tether' | 'onDefect' | 'redactor'>) => McpRoute
  /** Opens the gateway to Telegram. */
  readonly openTelegram: (
    parts: Pick<ServerParts, 'tether' | 'onDefect'> & {
      readonly home: Folder
      readonly note: Note
    },
  ) => Promise<ChatGateway>
}

/** Writes a line into the log of the server. */
export type Note = (entry: Readonly<Record<string, unknown>>) => void

/** The Instances of a home, which this process runs until it closes them. */
export interface OpenTether {
  readonly tether: Tether
  /** Stops every Instance. */
  close(): Promise<void>
}

const FIRST_PORT = 4600
const PORTS_TRIED = 100
const HOUR_MS = 60 * 60 * 1000

/** Starts the local server of a home. What was opened is closed again if a later step fails. */
export async function serveHarness(
  world: ServerWorld,
  { port }: ServeOptions = {},
): Promise<Result<RunningServer>> {
  const opened: (() => Promise<unknown>)[] = []
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close()
  }
  const started = await start(world, port, (close) => void opened.push(close))
  if (!started.ok) {
    await closeAll()
    return started
  }
  let closing: Promise<void> | undefined
  return ok({ ...started.value, close: () => (closing ??= closeAll()) })
}

type OnClose = (close: () => Promise<unknown>) => void

/** In this order: a step may rely on the ones before it, and is undone before them. */
async function start(
  world: ServerWorld,
  port: number | undefined,
  onClose: OnClose,
): Promise<Result<Omit<RunningServer, 'close'>>> {
  const home = await openHome(world.home)
  if (!home.ok) return home
  onClose(() => home.value.close())
  const lock = await takeServerLock(home.value.own, world.clock)
  if (!lock.ok) return lock
  onClose(() => lock.value.release())
  const token = await serverToken(home.value.own, world.ids)
  if (!token.ok) return token
  const secrets = await keysOf(world, home.value)
  if (!secrets.ok) return secrets
  const log = await openLog(world, home.value, [token.value, ...secrets.value])
  if (!log.ok) return log
  onClose(() => log.value.close())
  const kept = await openKept(world, home.value)
  if (!kept.ok) return kept
  onClose(() => kept.value.close())
  const staged = await openStaged(world, home.value, () => filesOf(kept.value))
  if (!staged.ok) return staged
  onClose(() => staged.value.close())
  // What a person grants for a Session lasts as long as the server, also while its workspace is closed.
  const grants: SessionGrants = new Map()
  const open: OpenAt = (path, options) => world.open(path, { ...options, grants })
  const workspaces = openWorkspaces(open, workspaceRegister(home.value.own, world.ids))
  onClose(() => workspaces.close())
  const settled = settledQuestions()
  const onDefect = (error: unknown) =>
    log.value.write({ event: 'defect', error: defectText(error) })
  const sending = { workspaces, settledQuestions: settled, clock: world.clock, onDefect }
  const queues = messageQueues(sending, kept.value.queues)
  onClose(async () => queues.close())
  const note: Note = (entry) => log.value.write({ event: 'instance', ...entry })
  const instances = await world.openTether(home.value.own, note)
  if (!instances.ok) return instances
  onClose(() => instances.value.close())
  const redactor = jsonRedactor(secrets.value)
  const mcp = world.mcp({ tether: instances.value.tether, onDefect, redactor })
  onClose(() => mcp.close())
  const telegram = await world.openTelegram({
    home: home.value.own,
    tether: instances.value.tether,
    note: (entry) => log.value.write({ event: 'telegram', ...entry }),
    onDefect,
  })
  onClose(() => telegram.close())
  const codes = pageCodes(world.clock)
  const control = newSecret()
  const stop = new AbortController()
  const app = httpApp({
    token: token.value,
    app: appFiles(world.appFolder),
    codes,
    control,
    onStop: () => stop.abort(),
    workspaces,
    mcp,
    telegram,
    settledQuestions: settled,
    steeredKeys: recentKeys(),
    stagedFiles: staged.value,
    drafts: kept.value.drafts,
    queues,
    outcomes: new LastOutcomes(),
    tether: instances.value.tether,
    clock: world.clock,
    env: world.env,
    redactor,
    models: () => servedModels(world, home.value),
    onRequest: (served) => log.value.write({ event: 'request', ...served }),
    onDefect,
  })
  const running = new Set<Promise<Response>>()
  const server = await serveFetch({
    ports: portsFrom(port),
    socket: join(world.home, 'hawserd.sock'),
    fetch: async (request) => {
      const response = Promise.resolve(app.fetch(request))
      running.add(response)
      return response.finally(() => running.delete(response))
    },
    refusalResponse: (why) => refusal(guardAnswer(why)),
  })
  if (!server.ok) return server
  // Requests lose their connection first, and then the parts that they use.
  onClose(() => Promise.allSettled(running))
  onClose(() => server.value.close())
  const { port: bound, socket } = server.value
  const record = recordOf(world, bound, socket)
  const published = await lock.value.announce({ record, control })
  if (!published.ok) return published
  log.value.write({ event: 'started', ...record })
  onClose(async () => log.value.write({ event: 'stopping' }))
  await queues.resume()
  const withoutSocket = socket?.ok === false ? socket.error : undefined
  return ok({ record, withoutSocket, pageCode: () => codes.issue(), stopRequested: stop.signal })
}

function recordOf(
  { clock, version }: ServerWorld,
  port: number,
  socket: FetchServer['socket'],
): ServerRecord {
  return {
    pid: thisProcess('hawser').pid,
    version,
    since: timestamp(clock),
    origin: `http://127.0.0.1:${port}`,
    ...(socket?.ok === true ? { socket: socket.value } : {}),
  }
}

/** The chosen port only, or the first free one. */
function portsFrom(port: number | undefined): readonly number[] {
  if (port !== undefined) return [port]
  return Array.from({ length: PORTS_TRIED }, (_, at) => FIRST_PORT + at)
}

async function keysOf(
  { env }: ServerWorld,
  { own }: HomeFolders,
): Promise<Result<readonly string[]>> {
  const settings = await loadSettings(own, undefined)
  return settings.ok ? ok(secretsOf(env, settings.value.settings)) : settings
}

/** Keys and the token are removed from every line. */
async function openLog(
  { clock }: ServerWorld,
  { own }: HomeFolders,
  secrets: readonly string[],
): Promise<Result<ServerLog>> {
  const redactor = jsonRedactor(secrets)
  return asResult('open the log of the server', async () =>
    ok(await serverLog(own, clock, (line) => redactor.text(line))),
  )
}

/** What people typed and did not send, and messages that wait. */
interface KeptMessages {
  readonly drafts: KeptValues<MessageDraft>
  readonly queues: QueueStore
  close(): Promise<void>
}

async function openKept({ ids }: ServerWorld, { own }: HomeFolders): Promise<Result<KeptMessages>> {
  return asResult('open the drafts', async () => {
    const drafts = await keptValues(own, 'drafts', MessageDraft, ids)
    const queues = await keptValues(own, 'queues', WaitingMessage.array(), ids)
    const close = async () => void (await Promise.all([drafts.close(), queues.close()]))
    return ok({ drafts, queues, close })
  })
}

/** The uploads that drafts and waiting messages name; `undefined` if that cannot be read. */
async function filesOf({ drafts, queues }: KeptMessages): Promise<ReadonlySet<string> | undefined> {
  const [unsent, waiting] = await Promise.all([drafts.all(), queues.all()])
  if (!unsent.ok || !waiting.ok) return undefined
  const messages = [
    ...[...unsent.value.values()].flatMap((draft) => [draft, ...draft.unconfirmed]),
    ...[...waiting.value.values()].flat(),
  ]
  return new Set(messages.flatMap(({ attachments }) => attachments.map(({ path }) => path)))
}

/** Expired uploads, and what killed processes left, are removed now and every hour. */
async function openStaged(
  { clock }: ServerWorld,
  { own }: HomeFolders,
  inUse: () => Promise<ReadonlySet<string> | undefined>,
): Promise<Result<StagedFiles>> {
  return asResult('open the uploads', async () => {
    const staged = await stagedFiles(own, clock)
    const expire = async () => {
      const kept = await inUse()
      if (kept !== undefined) await staged.removeExpired(kept)
      await removeLeftovers(own, clock.now() - LEFTOVER_MS)
    }
    let expiring = expire()
    const stop = backgroundTimer.every(HOUR_MS, () => {
      expiring = expiring.then(expire)
    })
    const close = async () => {
      stop()
      await expiring
      await staged.close()
    }
    return ok({ ...staged, close })
  })
}

async function servedModels(
  { models }: ServerWorld,
  { own }: HomeFolders,
): Promise<Result<ServedModels>> {
  const loaded = await loadSettings(own, undefined)
  return loaded.ok ? ok(await models(loaded.value.settings.models ?? {})) : loaded
}

function refusal({ status, body }: FailureAnswer): Response {
  const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  return Response.json(body, { status, headers })
}
