import createClient from 'openapi-fetch'
import type { components, paths } from './harness-api.ts'

type Schemas = components['schemas']

/** The name of each event of a stream, such as `chat:delta`, with its data. */
type EventData = {
  [
    Name in keyof Schemas as Name extends `event.${infer Area}.${infer Rest}`
      ? `${Area}:${Rest}`
      : Name extends `event.${infer Only}`
        ? Only
        : never
  ]: Schemas[Name]
}

/** One server-sent event. `id` is the number of an Event in the Log. */
export type HarnessEvent = {
  [Name in keyof EventData]: { event: Name; data: EventData[Name]; id: number | undefined }
}[keyof EventData]

/** Every route of docs/openapi.yaml, with the types of its parameters, bodies and responses. */
export function harnessClient(origin: string, token: string) {
  return createClient<paths>({ baseUrl: origin, headers: { authorization: `Bearer ${token}` } })
}

/** The value of a response, or an exception with the message of the server. */
export function valueOf<T>({ data, error }: { data?: T; error?: Schemas['Failure'] }): T {
  if (data === undefined) throw new Error(error?.error.message ?? 'The server sent no body.')
  return data
}

/** The events of a response with `parseAs: 'stream'`, as they arrive. Skip those that you do not know. */
export async function* eventsOf({
  response: { body },
  error,
}: {
  response: Response
  error?: Schemas['Failure']
}): AsyncGenerator<HarnessEvent> {
  if (error !== undefined || body === null) throw new Error(error?.error.message ?? 'No stream.')
  let rest = ''
  const decoder = new TextDecoder()
  for await (const piece of body) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => splitField(line)))
      const [event, data, id] = [fields.get('event'), fields.get('data'), fields.get('id')]
      if (event === undefined || data === undefined) continue
      const number = id === undefined ? undefined : Number(id)
      yield { event, data: JSON.parse(data), id: number } as HarnessEvent
    }
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(': ')
  return [line.slice(0, colon), line.slice(colon + 2)]
}
