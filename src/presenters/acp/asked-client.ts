import { methods, type AgentContext } from '@agentclientprotocol/sdk'
import type { SessionId } from '../../model/ids.ts'
import type { OpenQuestions, Question } from '../../session/questions/session-questions.ts'
import { answerTo, denial, permissionRequest } from './permission.ts'

interface AskedParts {
  readonly client: AgentContext
  readonly questions: OpenQuestions
  readonly session: SessionId
  readonly workspace: string
}

/** Asks the client what a Session asks, and withdraws a question that was settled elsewhere. */
export class AskedClient {
  readonly #parts: AskedParts
  readonly #open = new Map<string, AbortController>()

  constructor(parts: AskedParts) {
    this.#parts = parts
  }

  /** Returns at once; the answer is recorded when it comes. */
  ask(question: Question): void {
    const { request_id } = question
    if (this.#open.has(request_id)) return
    const settled = new AbortController()
    this.#open.set(request_id, settled)
    void this.#answer(question, settled.signal).finally(() => this.#open.delete(request_id))
  }

  settle(request_id: string): void {
    this.#open.get(request_id)?.abort()
  }

  /** Withdraws all questions. */
  leave(): void {
    for (const settled of this.#open.values()) settled.abort()
  }

  /** A question that is closed by now needs no answer. */
  async #answer(question: Question, signal: AbortSignal): Promise<void> {
    const { client, questions, session, workspace } = this.#parts
    const request = permissionRequest(question, session, workspace)
    const options = { cancellationSignal: signal, stopWaitingOnCancel: true } as const
    const answer = await client
      .request(methods.client.session.requestPermission, request, options)
      .then(
        (response) => answerTo(question, response),
        () => denial(question, 'The editor could not be asked.'),
      )
    if (!signal.aborted) await questions.answer(question.request_id, answer)
  }
}
