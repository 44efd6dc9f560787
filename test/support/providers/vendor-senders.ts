import { anthropicSender } from '../../../src/providers/anthropic-client.ts'
import { CallConnection } from '../../../src/providers/call-connection.ts'
import { onceLoaded, openaiSender } from '../../../src/providers/openai-client.ts'
import { ResponsesSocket } from '../../../src/providers/responses/socket.ts'

/** What sends to vendors, in one script, so that a test can bundle it as the program is. */
export const senders = {
  anthropicSender,
  openaiSender,
  openSocket: (options: Parameters<typeof onceLoaded>[0]) => ({
    socket: new ResponsesSocket(onceLoaded(options), options),
    connection: new CallConnection(new AbortController().signal, options),
  }),
}
