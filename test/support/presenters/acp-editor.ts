import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import {
  client,
  methods,
  ndJsonStream,
  type AnyMessage,
  type ClientCapabilities,
  type ClientConnection,
  type ContentBlock,
  type NewSessionResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
  type Stream,
} from '@agentclientprotocol/sdk'
import { expect, onTestFinished } from 'vitest'
import { composeWorkspace } from '../../../src/compose/workspace.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { ProtocolPipes } from '../../../src/host/process/protocol-pipes.ts'
import { serveAcp } from '../../../src/presenters/acp/serve.ts'
import type { Result } from '../../../src/model/errors.ts'
import { SchemaCheck } from './acp-schemas.ts'
import { freshFolder } from '../host/folder.ts'
import { startProgram, type Started } from '../cli/program.ts'

type Json = Readonly<Record<string, unknown>>

export interface EditorOptions {
  readonly capabilities?: ClientCapabilities
  /** The answer to a question. Default: the first option. */
  readonly permit?: (
    request: RequestPermissionRequest,
    signal: AbortSignal,
  ) => Promise<RequestPermissionResponse> | RequestPermissionResponse
  /** The content of open files that are not saved, by path. */
  readonly buffers?: Map<string, string>
}

/** A client on the official SDK. It keeps everything that it receives, and checks every message against the schemas. */
export class Editor {
  readonly updates: { readonly sessionId: string; readonly update: SessionUpdate }[] = []
  readonly questions: RequestPermissionRequest[] = []
  /** Requests for files, in order. */
  readonly files: string[] = []
  readonly check = new SchemaCheck()
  readonly connection: ClientConnection
  readonly #waiting = new Set<() => void>()

  constructor(stream: Stream, options: EditorOptions) {
    const buffers = options.buffers ?? new Map<string, string>()
    this.connection = client({ name: 'test editor' })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params)
        this.#look()
      })
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        this.questions.push(params)
        this.#look()
        return (options.permit ?? firstOption)(params, signal)
      })
      .onRequest(methods.client.fs.readTextFile, ({ params: { path } }) => {
        this.files.push(`read ${path}`)
        const content = buffers.get(path)
        if (content === undefined) throw new Error('this file is not open')
        return { content }
      })
      .onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
        this.files.push(`write ${path}`)
        buffers.set(path, content)
      })
      .connect(this.#checked(stream))
    onTestFinished(() => {
      this.connection.close()
      expect(this.check.offences).toEqual([])
    })
  }

  get agent() {
    return this.connection.agent
  }

  /** Updates of one type, without their type. */
  of<T extends SessionUpdate['sessionUpdate']>(
    type: T,
  ): Extract<SessionUpdate, { sessionUpdate: T }>[] {
    return this.updates.flatMap(({ update }) => (isOf(update, type) ? [update] : []))
  }

  /** The text of all messages of the agent. */
  get text(): string {
    return this.of('agent_message_chunk')
      .map(({ content }) => (content.type === 'text' ? content.text : ''))
      .join('')
  }

  prompt(sessionId: string, prompt: string | readonly ContentBlock[], more: Json = {}) {
    const blocks =
      typeof prompt === 'string' ? [{ type: 'text' as const, text: prompt }] : [...prompt]
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks, ...more })
  }

  /** Resolves when `found` returns something. */
  until<T>(found: () => T | undefined | false): Promise<T> {
    return new Promise((resolve) => {
      const look = () => {
        const value = found()
        if (value === undefined || value === false) return
        this.#waiting.delete(look)
        resolve(value)
      }
      this.#waiting.add(look)
      look()
    })
  }

  #look(): void {
    for (const look of this.#waiting) look()
  }

  #checked({ readable, writable }: Stream): Stream {
    const tap = (from: 'agent' | 'client') =>
      new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, controller) => {
          this.check.take(from, message)
          controller.enqueue(message)
        },
      })
    const out = tap('client')
    void out.readable.pipeTo(writable).catch(() => {})
    return { readable: readable.pipeThrough(tap('agent')), writable: out.writable }
  }
}

function isOf<T extends SessionUpdate['sessionUpdate']>(
  update: SessionUpdate,
  type: T,
): update is Extract<SessionUpdate, { sessionUpdate: T }> {
  return update.sessionUpdate === type
}

export function firstOption({ options }: RequestPermissionRequest): RequestPermissionResponse {
  return { outcome: { outcome: 'selected', optionId: options[0]?.optionId ?? '' } }
}

export function lastOption({ options }: RequestPermissionRequest): RequestPermissionResponse {
  return { outcome: { outcome: 'selected', optionId: options.at(-1)?.optionId ?? '' } }
}

export interface AcpPlace {
  /** Contains `home` and `workspace`. */
  readonly root: string
  readonly workspace: string
  readonly editor: Editor
  readonly initialized: Awaited<ReturnType<typeof initialize>>
}

const ENV = { HAWSER_PROVIDER: 'rehearsal' }

/** The agent in this process, and an editor. The editor leaves at the end of the test. */
export async function acpPlace(
  options: EditorOptions & { readonly root?: string; readonly env?: Record<string, string> } = {},
): Promise<AcpPlace & { readonly leave: () => Promise<void> }> {
  const { root, workspace } = await placeIn(options.root)
  const { pipes, toAgent, fromAgent } = memoryPipes()
  const home = join(root, 'home')
  const env = { ...ENV, ...options.env }
  const version = '0.0.0-test'
  const defects: unknown[] = []
  const serving: Promise<Result<void>> = serveAcp({
    home,
    version,
    env,
    clock: systemClock,
    ids: systemIds(systemClock),
    open: (path, opening = {}) =>
      composeWorkspace(path, home, { ...opening, presenter: 'acp', env, version }),
    pipes,
    onDefect: (error) => defects.push(error),
  })
  const editor = new Editor(ndJsonStream(Writable.toWeb(toAgent), webOf(fromAgent)), options)
  const leave = async () => {
    toAgent.end()
    expect(await serving).toEqual({ ok: true, value: undefined })
    expect(defects).toEqual([])
  }
  onTestFinished(leave)
  return { root, workspace, editor, leave, initialized: await initialize(editor, options) }
}

/** The program as its own process, driven over real pipes. */
export async function acpProgram(
  options: EditorOptions & { readonly root?: string; readonly env?: Record<string, string> } = {},
): Promise<AcpPlace & { readonly program: Started }> {
  const { root, workspace } = await placeIn(options.root)
  const env = { ...ENV, ...options.env }
  const program = await startProgram({ root, env, stdin: 'pipe' }, ['acp'])
  const { stdin, stdout } = program.child
  if (stdin === null || stdout === null) throw new Error('the program has no pipes')
  const lines = new PassThrough()
  stdout.on('data', (text: string) => void lines.write(text))
  stdout.on('end', () => void lines.end())
  const editor = new Editor(ndJsonStream(Writable.toWeb(stdin), webOf(lines)), options)
  return { root, workspace, editor, program, initialized: await initialize(editor, options) }
}

export async function newSession({ editor, workspace }: AcpPlace): Promise<string> {
  const params = { cwd: workspace, mcpServers: [] }
  const made = await editor.agent.request<NewSessionResponse>('session/new', params)
  return made.sessionId
}

function initialize(editor: Editor, { capabilities = {} }: EditorOptions) {
  const params = { protocolVersion: 1, clientCapabilities: capabilities }
  return editor.agent.request(methods.agent.initialize, params)
}

async function placeIn(given: string | undefined) {
  const root = given ?? (await freshFolder())
  const workspace = join(root, 'workspace')
  await mkdir(workspace, { recursive: true })
  return { root, workspace }
}

function webOf(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>
}

/** Pipes without a process: the agent waits for a reader as it does for a real one. */
function memoryPipes(): {
  readonly pipes: ProtocolPipes
  readonly toAgent: PassThrough
  readonly fromAgent: PassThrough
} {
  const toAgent = new PassThrough()
  const fromAgent = new PassThrough()
  const pipes: ProtocolPipes = {
    input: toAgent,
    write: async (bytes) => {
      if (!fromAgent.write(bytes)) await once(fromAgent, 'drain')
    },
    stop: () => void toAgent.end(),
  }
  return { pipes, toAgent, fromAgent }
}
