import { useCallback, useEffect, useState } from 'react'
import { request } from '../api/server.ts'
import type { WaitingMessage } from '../api/shapes.ts'
import { visible } from '../transcript/text.ts'

const LOOK_MS = 2_000

/** The messages that wait on the server, for every client of the Session. */
export function useQueue(sessionId: string, isRunning: boolean, turns: number) {
  const [queue, setQueue] = useState<readonly WaitingMessage[]>([])
  const path = `/api/harness/session/${sessionId}/queue`
  const read = useCallback(async () => {
    const answer = await request<{ queue: WaitingMessage[] }>('GET', path)
    if (answer.ok) setQueue(answer.value.queue)
  }, [path])
  useEffect(() => void read(), [read, isRunning, turns])
  const isWatched = isRunning || queue.length > 0
  useEffect(() => {
    if (!isWatched) return
    const timer = setInterval(() => void read(), LOOK_MS)
    return () => clearInterval(timer)
  }, [isWatched, read])
  return { queue, read, path }
}

export function QueueList({
  queue,
  path,
  onChanged,
  onEdit,
}: {
  readonly queue: readonly WaitingMessage[]
  readonly path: string
  readonly onChanged: () => Promise<void>
  /** Takes a message back into the composer. */
  readonly onEdit: (message: WaitingMessage) => void
}) {
  const [problem, setProblem] = useState('')
  if (queue.length === 0) return null
  const change = async (work: ReturnType<typeof request>) => {
    const answer = await work
    setProblem(answer.ok ? '' : answer.failure.message)
    await onChanged()
    return answer
  }
  const at = (key: string) => `${path}/${encodeURIComponent(key)}`
  const moved = (index: number) => {
    const keys = queue.map(({ messageKey }) => messageKey)
    const [key = ''] = keys.splice(index, 1)
    keys.splice(index - 1, 0, key)
    return change(request('POST', `${path}/order`, { body: { messageKeys: keys } }))
  }
  const edit = async (message: WaitingMessage) => {
    const taken = await request<{ message: WaitingMessage }>('DELETE', at(message.messageKey))
    setProblem(taken.ok ? '' : taken.failure.message)
    if (taken.ok) onEdit(taken.value.message)
    await onChanged()
  }
  return (
    <section className="queue" aria-label="Messages that wait">
      <ol>
        {queue.map((message, index) => (
          <li key={message.messageKey}>
            <span className="queue-text" dir="auto">
              {visible(message.text.slice(0, 200))}
              {message.attachments.length > 0 && ` · ${message.attachments.length} files`}
            </span>
            {message.refused !== undefined && (
              <span className="problem">Not sent: {visible(message.refused.message)}</span>
            )}
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
