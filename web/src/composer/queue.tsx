import { useEffect, useState } from 'react'
import { countOf } from '../../../src/encoding/amounts.ts'
import { request } from '../api/server.ts'
import type { WaitingMessage } from '../api/shapes.ts'
import { Store, useStore } from '../store/store.ts'
import { visible } from '../transcript/text.ts'

const LOOK_MS = 2_000

/** The messages that wait on the server, for every client of the Session. */
export class Queue {
  readonly store = new Store<readonly WaitingMessage[]>([])
  readonly path: string

  constructor(sessionId: string) {
    this.path = `/api/harness/session/${sessionId}/queue`
  }

  readonly read = async (): Promise<void> => {
    const answer = await request<{ queue: WaitingMessage[] }>('GET', this.path)
    if (answer.ok) this.store.set(answer.value.queue)
  }
}

/** Reads it when a Turn begins or ends, and now and then while messages may wait. */
export function useQueue(queue: Queue, isRunning: boolean, turns: number) {
  const waiting = useStore(queue.store)
  useEffect(() => void queue.read(), [queue, isRunning, turns])
  const isWatched = isRunning || waiting.length > 0
  useEffect(() => {
    if (!isWatched) return
    const timer = setInterval(() => void queue.read(), LOOK_MS)
    return () => clearInterval(timer)
  }, [isWatched, queue])
  return waiting
}

export function QueueList({
  queue: { path, read },
  waiting,
  onEdit,
}: {
  readonly queue: Queue
  readonly waiting: readonly WaitingMessage[]
  /** Copies a message into the composer. Returns what takes it out again, if it was sent meanwhile. */
  readonly onEdit: (message: WaitingMessage) => () => void
}) {
  const [problem, setProblem] = useState('')
  if (waiting.length === 0) return null
  const change = async (work: ReturnType<typeof request>) => {
    const answer = await work
    setProblem(answer.ok ? '' : answer.failure.message)
    await read()
    return answer
  }
  const at = (key: string) => `${path}/${encodeURIComponent(key)}`
  const moved = (index: number) => {
    const keys = waiting.map(({ messageKey }) => messageKey)
    const [key = ''] = keys.splice(index, 1)
    keys.splice(index - 1, 0, key)
    return change(request('POST', `${path}/order`, { body: { messageKeys: keys } }))
  }
  // First in the composer, and only then out of the queue: whatever fails in between, the message is in one of them.
  const edit = async (message: WaitingMessage) => {
    const undo = onEdit(message)
    const taken = await change(request<object>('DELETE', at(message.messageKey)))
    if (!taken.ok && taken.failure.status !== 0) undo()
  }
  return (
    <section className="queue" aria-label="Messages that wait">
      <ol>
        {waiting.map((message, index) => (
          <li key={message.messageKey}>
            <span className="queue-text" dir="auto">
              {visible(message.text.slice(0, 200))}
              {message.attachments.length > 0 &&
                ` · ${countOf(message.attachments.length, 'file')}`}
            </span>
            {message.refused !== undefined && (
              <span className="problem">Not sent: {visible(message.refused.message)}</span>
            )}
            <span className="queue-actions">
              <button
                type="button"
                className="quiet"
                disabled={index === 0}
                onClick={() => void moved(index)}
                aria-label={`Send earlier: ${message.text.slice(0, 40)}`}
              >
                ↑
              </button>
              <button type="button" className="quiet" onClick={() => void edit(message)}>
                Edit
              </button>
              <button
                type="button"
                className="quiet"
                onClick={() => void change(request('DELETE', at(message.messageKey)))}
              >
                Cancel
              </button>
            </span>
          </li>
        ))}
      </ol>
      {problem !== '' && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}
