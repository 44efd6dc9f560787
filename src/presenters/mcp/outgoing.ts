import {
  isJSONRPCErrorResponse,
  ProtocolErrorCode,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type McpServer,
} from '@modelcontextprotocol/server'
import { isJsonObject, parseJson } from '../../encoding/json.ts'
import { quote, shorten } from '../../encoding/quote.ts'
import type { Redactor } from '../../encoding/redaction.ts'

/** Everything that a server sends passes through here, on every transport: without keys, and with errors that people can read. */
export function watchOutgoing(mcp: McpServer, redactor: Redactor): void {
  const connect = mcp.server.connect.bind(mcp.server)
  mcp.server.connect = (transport) => {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(shownMessage(message, redactor), options)
    return connect(transport)
  }
}

/** The id is the client's own, and names its request. Pure. */
function shownMessage(message: JSONRPCMessage, redactor: Redactor): JSONRPCMessage {
  const plain = isJSONRPCErrorResponse(message) ? plainError(message) : message
  const clean = redactor.value(plain)
  return 'id' in message && 'id' in clean && message.id !== undefined
    ? { ...clean, id: message.id }
    : clean
}

/** The SDK reports an invalid request as an internal error whose message is all that its validator found, as JSON. */
function plainError(response: JSONRPCErrorResponse): JSONRPCErrorResponse {
  const { code, message } = response.error
  const findings = findingsIn(message)
  if (findings === undefined) return response
  const problems = findings.slice(0, MOST_PROBLEMS).map(({ path, message: what }) => {
    const field = path.map(String).join('.')
    return `${field === '' ? 'the request' : shownName(field)}: ${shownName(what)}`
  })
  const internal: number = ProtocolErrorCode.InternalError
  return {
    ...response,
    error: {
      code: code === internal ? ProtocolErrorCode.InvalidParams : code,
      message: `Invalid request: ${problems.join('; ')}.`,
    },
  }
}

const MOST_PROBLEMS = 5
const MOST_BYTES = 200

interface ValidatorFinding {
  readonly path: readonly unknown[]
  readonly message: string
}

function findingsIn(message: string): readonly ValidatorFinding[] | undefined {
  const from = message.indexOf('[')
  const found = from === -1 ? undefined : parseJson(message.slice(from))
  if (!Array.isArray(found) || found.length === 0) return undefined
  return found.every(isFinding) ? found : undefined
}

function isFinding(value: unknown): value is ValidatorFinding {
  return isJsonObject(value) && Array.isArray(value['path']) && typeof value['message'] === 'string'
}

/** What the client sent may be in it. */
function shownName(text: string): string {
  return quote(shorten(text, MOST_BYTES)).slice(1, -1)
}
