import { methods, type AgentContext } from '@agentclientprotocol/sdk'
import type { Clock } from '../../host/clock.ts'
import type { OpenBuffers } from '../../host/files/buffered-files.ts'
import type { SessionId } from '../../model/ids.ts'
import type { ClientOffers } from './protocol.ts'

/** A client that does not answer must not hold up a Turn. */
const PATIENCE_MS = 10_000

interface BufferParts {
  readonly client: AgentContext
  readonly session: SessionId
  readonly clock: Pick<Clock, 'after'>
  readonly offers: Pick<ClientOffers, 'readsFiles' | 'writesFiles'>
  /** The path of a file as the client spells it. */
  readonly spelt: (path: string) => string
}

/** The files that the client has open; `undefined` if it does not offer them. */
export function clientBuffers({
  client,
  session: sessionId,
  clock,
  offers,
  spelt,
}: BufferParts): OpenBuffers | undefined {
  if (!offers.readsFiles) return undefined
  const { readTextFile, writeTextFile } = methods.client.fs
  const asked = <T>(ask: (signal: AbortSignal) => Promise<T>) => inTime(clock, ask)
  const write = async (path: string, content: string) => {
    const params = { sessionId, path: spelt(path), content }
    const done = await asked((signal) => client.request(writeTextFile, params, waiting(signal)))
    return done !== undefined
  }
  return {
    read: async (path) => {
      const params = { sessionId, path: spelt(path) }
      const file: unknown = await asked((signal) =>
        client.request(readTextFile, params, waiting(signal)),
      )
      const hasText = typeof file === 'object' && file !== null && 'content' in file
      return hasText && typeof file.content === 'string' ? file.content : undefined
    },
    write: offers.writesFiles ? write : undefined,
  }
}

function waiting(cancellationSignal: AbortSignal) {
  return { cancellationSignal, stopWaitingOnCancel: true } as const
}

/** `undefined` if it failed or took too long. */
async function inTime<T>(
  clock: Pick<Clock, 'after'>,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const late = new AbortController()
  const cancel = clock.after(PATIENCE_MS, () => late.abort())
  try {
    return await ask(late.signal)
  } catch {
    return undefined
  } finally {
    cancel()
  }
}
