import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { freshFolder } from '../host/folder.ts'

/** One tab of a real browser. */
export interface BrowserTab {
  /** Loads an address and resolves when the page has loaded. */
  open(url: string): Promise<void>
  /** The value of an expression in the page; a promise is awaited. Rejects if it throws. */
  value(expression: string): Promise<unknown>
}

const PROGRAM = '/usr/bin/chromium'

export async function hasChromium(): Promise<boolean> {
  return access(PROGRAM).then(
    () => true,
    () => false,
  )
}

/** Nothing but the pages of the test: no sandbox, since tests run as root, and no request of its own. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-port=0',
]

/** Starts a browser with an empty profile. It is killed at the end of the test. */
export async function startChromium(): Promise<{ tab(): Promise<BrowserTab> }> {
  const profile = await freshFolder()
  const child = spawn(PROGRAM, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: profile },
  })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await closed
  })
  const address = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
    void closed.then(() => reject(new Error(`the browser ended: ${text}`)))
  })
  const socket = new WebSocket(address)
  await once(socket, 'open')
  onTestFinished(() => socket.terminate())
  const protocol = new Protocol(socket)
  return { tab: () => openTab(protocol) }
}

async function openTab(protocol: Protocol): Promise<BrowserTab> {
  const { targetId } = await protocol.send('Target.createTarget', { url: 'about:blank' })
  const attached = await protocol.send('Target.attachToTarget', { targetId, flatten: true })
  const sessionId = String(attached['sessionId'])
  const send = (method: string, params = {}) => protocol.send(method, params, sessionId)
  await send('Page.enable')
  return {
    open: async (url) => {
      const loaded = protocol.next('Page.loadEventFired', sessionId)
      await send('Page.navigate', { url })
      await loaded
    },
    value: async (expression) => {
      const options = { awaitPromise: true, returnByValue: true }
      const answer = await send('Runtime.evaluate', { expression, ...options })
      if (answer['exceptionDetails'] !== undefined) throw new Error(JSON.stringify(answer))
      return (answer['result'] as { value: unknown }).value
    },
  }
}

type Params = Readonly<Record<string, unknown>>

/** The DevTools protocol: numbered requests, and events. */
class Protocol {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (message: Params) => void>()
  readonly #events = new Map<string, () => void>()
  #count = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (bytes: Buffer) => {
      const message = JSON.parse(bytes.toString('utf8')) as Params
      const { id, method, sessionId } = message
      if (typeof id === 'number') this.#waiting.get(id)?.(message)
      else this.#events.get(`${String(method)} ${String(sessionId)}`)?.()
    })
  }

  async send(method: string, params: Params, sessionId?: string): Promise<Params> {
    this.#count += 1
    const id = this.#count
    const answer = new Promise<Params>((resolve) => void this.#waiting.set(id, resolve))
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }))
    const { error, result } = await answer
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result as Params
  }

  next(method: string, sessionId: string): Promise<void> {
    return new Promise((resolve) => void this.#events.set(`${method} ${sessionId}`, resolve))
  }
}
