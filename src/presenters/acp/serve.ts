import {
  agent,
  methods,
  type AgentContext,
  type AgentRequestContext,
  type JsonRpcId,
} from '@agentclientprotocol/sdk'
import type { InitializeResponse } from '@agentclientprotocol/sdk/unstable'
import type * as z from 'zod'
import { Redactor } from '../../encoding/redaction.ts'
import type { Clock } from '../../host/clock.ts'
import { openHome } from '../../host/home.ts'
import type { Ids } from '../../host/ids.ts'
import type { ProtocolPipes } from '../../host/process/protocol-pipes.ts'
import { workspaceRegister } from '../../host/workspace-register.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { SessionGrants } from '../../session/live/session-parts.ts'
import { secretsOf } from '../../session/settings/credentials.ts'
import { loadSettings } from '../../session/settings/settings.ts'
import { openWorkspaces } from '../../session/workspace/open-workspaces.ts'
import type { OpenAt } from '../../session/workspace/workspace.ts'
import { readPrompt } from './content.ts'
import { INVALID_REQUEST, METHOD_NOT_FOUND, orRefuse, requestError } from './error-response.ts'
import { messageStream } from './message-stream.ts'
import * as protocol from './protocol.ts'
import type { ServedSession } from './served-session.ts'
import { ServedSessions } from './served-sessions.ts'
import { listedPage } from './session-list.ts'
import { changeOf, modeChange } from './settings.ts'

/** The world of the agent; the composition root creates it. */
export interface AcpWorld {
  /** Path of `$HAWSER_HOME`. */
  readonly home: string
  readonly version: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly ids: Ids
  readonly open: OpenAt
  readonly pipes: ProtocolPipes
  /** For readers of the log of the editor. Never throws. */
  readonly onDefect: (error: unknown) => void
}

/** Serves one client until it leaves. Its Turns have ended then, and everything that it can still receive was sent. */
export async function serveAcp(world: AcpWorld): Promise<Result<void>> {
  const home = await openHome(world.home)
  if (!home.ok) return home
  // Settings that cannot be read are reported when a Session is opened.
  const settings = await loadSettings(home.value.own, undefined)
  const stored = settings.ok ? settings.value.settings : {}
  const redactor = new Redactor(secretsOf(world.env, stored))
  const register = workspaceRegister(home.value.own, world.ids)
  // What a person grants for a Session lasts as long as the process, also while the Session is closed.
  const grants: SessionGrants = new Map()
  const open: OpenAt = (path, options) =>
    world.open(path, { ...options, grants, buffers: (id) => sessions.buffersOf(id) })
  const workspaces = openWorkspaces(open, register)
  let offers: protocol.ClientOffers | undefined
  const sessions = new ServedSessions({
    workspaces,
    env: world.env,
    clock: world.clock,
    offers: () => offers ?? protocol.NO_OFFERS,
  })
  const stream = messageStream(world.pipes, {
    windDown: () => sessions.closeAll(),
    clock: world.clock,
    redactor,
  })
  const app = agent({ name: 'hawser' })

  const on = <T>(
    method: string,
    schema: z.ZodType<T>,
    work: (params: T, context: AgentRequestContext<T>) => Promise<Result<object>>,
  ) => {
    app.onRequest(
      method,
      (params) => checkParams(schema, params),
      async (context) => {
        if (offers === undefined && method !== methods.agent.initialize) throw notInitialized()
        return orRefuse(await guardDefects(() => work(context.params, context), world.onDefect))
      },
    )
  }
  /** What follows the response to a request that opened a Session. */
  const afterwards = (id: JsonRpcId, served: ServedSession, news: readonly string[]) => {
    void stream.untilAnswered(id).then(async () => {
      await served.sendState()
      for (const text of news) await served.tell(text)
    })
  }
  const opened = async (
    { sessionId, cwd, mcpServers }: z.infer<typeof protocol.OpenParams>,
    { client, requestId }: { client: AgentContext; requestId: JsonRpcId },
    replay: boolean,
  ): Promise<Result<object>> => {
    const served = await sessions.open(client, { id: sessionId, cwd, replay })
    if (!served.ok) return served
    const ignored = namesOf(mcpServers)
    afterwards(requestId, served.value, ignoredWords(ignored))
    return ok(await stateOf(served.value, ignored))
  }

  on(methods.agent.initialize, protocol.InitializeParams, async (params) => {
    offers = protocol.offersOf(params)
    return ok(introduction(world.version))
  })
  on(methods.agent.session.new, protocol.NewParams, async ({ cwd, mcpServers }, context) => {
    const created = await sessions.create(context.client, cwd)
    if (!created.ok) return created
    const { session, offline, notices } = created.value
    const ignored = namesOf(mcpServers)
    const words = [...ignoredWords(ignored), ...(offline ? [OFFLINE] : []), ...notices]
    afterwards(context.requestId, session, words)
    return ok({ sessionId: session.id, ...(await stateOf(session, ignored)) })
  })
  on(methods.agent.session.load, protocol.OpenParams, (params, context) =>
    opened(params, context, true),
  )
  on(methods.agent.session.resume, protocol.OpenParams, (params, context) =>
    opened(params, context, false),
  )
  on(protocol.FORK, protocol.OpenParams, async (params, { client, requestId }) => {
    const { sessionId, cwd, mcpServers } = params
    const served = await sessions.fork(client, { id: sessionId, cwd })
    if (!served.ok) return served
    const ignored = namesOf(mcpServers)
    afterwards(requestId, served.value, ignoredWords(ignored))
    return ok({ sessionId: served.value.id, ...(await stateOf(served.value, ignored)) })
  })
  on(methods.agent.session.list, protocol.ListParams, async ({ cwd, cursor }) => {
    const folders =
      cwd === undefined || cwd === null ? (await register.all()).map(({ path }) => path) : [cwd]
    return listedPage(workspaces, folders, cursor ?? undefined)
  })
  on(methods.agent.session.close, protocol.SessionParams, async ({ sessionId }) => {
    const served = sessions.get(sessionId)
    if (!served.ok) return served
    await sessions.close(served.value.id)
    return ok({})
  })
  on(methods.agent.session.delete, protocol.SessionParams, async ({ sessionId }) => {
    const deleted = await sessions.delete(sessionId)
    return deleted.ok ? ok({}) : deleted
  })
  on(methods.agent.session.prompt, protocol.PromptParams, async (params, { signal }) => {
    const served = sessions.get(params.sessionId)
    if (!served.ok) return served
    const input = readPrompt(params, served.value.roots)
    return input.ok ? served.value.prompt(input.value, signal) : input
  })
  on(methods.agent.session.setMode, protocol.ModeParams, async ({ sessionId, modeId }) => {
    const served = sessions.get(sessionId)
    if (!served.ok) return served
    const changed = await served.value.change(modeChange(modeId))
    return changed.ok ? ok({}) : changed
  })
  on(methods.agent.session.setConfigOption, protocol.ConfigParams, async (params) => {
    const served = sessions.get(params.sessionId)
    if (!served.ok) return served
    const change = changeOf(served.value.settingParts, params.configId, params.value)
    const changed = await served.value.change(change)
    return changed.ok ? ok({ configOptions: await served.value.options() }) : changed
  })
  for (const method of [methods.agent.authenticate, methods.agent.logout])
    on(method, protocol.AnyParams, async () => noLogin())
  app.onNotification(
    methods.agent.session.cancel,
    (params) => protocol.SessionParams.safeParse(params).data,
    ({ params }) => {
      const served = params === undefined ? undefined : sessions.get(params.sessionId)
      if (served?.ok === true) served.value.cancel()
    },
  )
  app.onRequest('*', () => {
    const { error } = failed('invalid_args', 'Hawser does not have this method.')
    throw requestError(error, METHOD_NOT_FOUND)
  })

  await app.connect(stream).closed
  await workspaces.close()
  await home.value.close()
  return ok(undefined)
}

/** Only what works is offered. */
function introduction(version: string): InitializeResponse {
  return {
    protocolVersion: protocol.VERSION,
    agentInfo: { name: 'hawser', title: 'Hawser', version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: false, sse: false },
      sessionCapabilities: { list: {}, resume: {}, fork: {}, close: {}, delete: {} },
    },
    authMethods: [],
  }
}

async function stateOf(served: ServedSession, ignored: readonly string[]): Promise<object> {
  return {
    modes: served.modes,
    configOptions: await served.options(),
    ...(ignored.length === 0 ? {} : { _meta: { hawser: { ignored_mcp_servers: ignored } } }),
  }
}

function namesOf(servers: z.infer<typeof protocol.NewParams>['mcpServers']): readonly string[] {
  return (servers ?? []).map(({ name }) => name)
}

function ignoredWords(names: readonly string[]): readonly string[] {
  if (names.length === 0) return []
  return [`MCP servers of the editor are not used yet: ${names.join(', ')}.`]
}

const OFFLINE = 'No API key is configured: the offline demo model answers.'

function checkParams<T>(schema: z.ZodType<T>, params: unknown): T {
  const parsed = schema.safeParse(params ?? {})
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(({ path, message }) => ({ path, message }))
  throw requestError(failed('invalid_args', 'The parameters are not valid.', { fields }).error)
}

/** A defect is an error of one request, and the connection stays. */
async function guardDefects<T>(
  work: () => Promise<Result<T>>,
  onDefect: AcpWorld['onDefect'],
): Promise<Result<T>> {
  try {
    return await work()
  } catch (error) {
    onDefect(error)
    return failed('internal', 'An unexpected error. Standard error has it.')
  }
}

function notInitialized(): Error {
  const { error } = failed('invalid_args', 'The connection must begin with initialize.')
  return requestError(error, INVALID_REQUEST)
}

function noLogin(): Result<never> {
  return failed('invalid_args', 'Hawser has no login: it uses API keys.', {}, [
    { action: 'Set ANTHROPIC_API_KEY or OPENAI_API_KEY in the environment of the editor.' },
    {
      action: 'Store a key; it is read from standard input.',
      command: 'hawser config set providers.anthropic.key -',
    },
  ])
}
