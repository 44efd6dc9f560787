import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { sseOf } from '../../test/support/providers/vendor-answer.ts'
import type { VendorDialect } from '../../test/support/providers/vendor-schemas.ts'
import { bundled } from '../bundled.ts'
import type { CallKind, Contestant } from './contestant.ts'
import { ModelRequest, type ModelAnswers } from './model-answers.ts'

/** The model on loopback that all contestants call. */
export interface Model {
  /** An address for one run, where `calls` calls of a kind precede the text. Each answer takes `answerMs`. */
  visit(contestant: Contestant, kind: CallKind, calls: number, answerMs?: number): Visit
  close(): void
}

/** The requests of one run. */
export interface Visit {
  /** Without the version that the SDKs of some vendors expect in it. */
  readonly baseUrl: string
  /** In the order of their arrival, when the run has ended. */
  requests(): Promise<readonly ModelRequest[]>
}

const CALL_ID = '############'
/** Small and constant, so that no contestant compacts its conversation. */
const USAGE = { input: 1_000, output: 10 } as const
const PATHS: Readonly<Record<VendorDialect, string>> = {
  messages: 'messages',
  responses: 'responses',
  chat: 'chat/completions',
}

export async function startModel(
  folder: string,
  contestants: readonly Contestant[],
): Promise<Model> {
  const program = await bundled('peers/model.worker.ts', join(folder, 'model'))
  const file = join(folder, 'answers.json')
  await writeFile(file, JSON.stringify(answersFor(contestants)))
  const child = fork(program, [file], { execArgv: [] })
  const [{ port }] = z
    .tuple([z.object({ port: z.number() })])
    .rest(z.unknown())
    .parse(await once(child, 'message'))
  const heard = new Map<string, ModelRequest[]>()
  child.on('message', (message) => {
    const request = ModelRequest.parse(message)
    heard.set(request.id, [...(heard.get(request.id) ?? []), request])
  })
  let visits = 0
  return {
    visit: ({ name }, kind, calls, answerMs = 0) => {
      const id = `visit${(visits += 1)}`
      heard.set(id, [])
      return {
        baseUrl: `http://127.0.0.1:${port}/${name}/${kind}-${calls}-${answerMs}/${id}`,
        requests: async () => {
          // Each run ends after its last answer, which is reported when it was written.
          while ((heard.get(id)?.length ?? 0) <= calls) await once(child, 'message')
          return heard.get(id) ?? []
        },
      }
    },
    close: () => child.disconnect(),
  }
}

function answersFor(contestants: readonly Contestant[]): ModelAnswers {
  const answers = contestants.map(({ name, dialect, calls }) => {
    const bytesOf = (kind: CallKind) => {
      const call = { ...calls[kind], arguments: JSON.stringify(calls[kind].arguments) }
      const one = { id: `call_${CALL_ID}`, ...call }
      return sseOf(dialect, { calls: [one], usage: USAGE }).toString('utf8')
    }
    const text = sseOf(dialect, { text: 'All is done.', usage: USAGE }).toString('utf8')
    const own = { read: bytesOf('read'), shell: bytesOf('shell') }
    return [name, { path: PATHS[dialect], calls: own, text }] as const
  })
  return { call_id: CALL_ID, answers: Object.fromEntries(answers) }
}
