import type { IncomingMessage } from 'node:http'

/** Why a request is refused before any handler sees it. `target`: its URL is not a path. `coding`: its body is compressed. */
export type GuardRefusal = 'host' | 'origin' | 'target' | 'coding'

/** Where a request arrived: on a port of the loopback address, or on a socket in the file system. */
export type Arrival = { readonly port: number } | 'socket'

/** The address to bind. */
export const ADDRESS = '127.0.0.1'

/**
 * A page of another site can direct a browser here, but only under its own host name (DNS rebinding), and the browser then
 * names that site as the origin. Names are compared whole: `localhost.example.com` starts like an allowed one. A browser
 * cannot reach a socket, so any host name is accepted there.
 */
export function guardRefusal(
  { headersDistinct, url = '' }: Pick<IncomingMessage, 'headersDistinct' | 'url'>,
  arrival: Arrival,
): GuardRefusal | undefined {
  const [host, ...moreHosts] = headersDistinct['host'] ?? []
  if (host === undefined || moreHosts.length > 0) return 'host'
  if (arrival !== 'socket' && !isHere(host, arrival.port)) return 'host'
  const origins = headersDistinct['origin'] ?? []
  if (origins.some((origin) => origin.toLowerCase() !== `http://${host.toLowerCase()}`)) {
    return 'origin'
  }
  if (!url.startsWith('/')) return 'target'
  return isPlain(headersDistinct) ? undefined : 'coding'
}

/** Nothing here decodes a body: its compressed bytes would be treated as the body. */
function isPlain(headers: IncomingMessage['headersDistinct']): boolean {
  const only = (name: string, plain: string) =>
    (headers[name] ?? []).every((value) => value.trim().toLowerCase() === plain)
  return only('content-encoding', 'identity') && only('transfer-encoding', 'chunked')
}

/** A client omits the port only if it is the default one. */
function isHere(host: string, port: number): boolean {
  const allowed = NAMES.map((name) => `${name}:${port}`)
  return [...allowed, ...(port === 80 ? NAMES : [])].includes(host.toLowerCase())
}

const NAMES = [ADDRESS, 'localhost', '[::1]']
