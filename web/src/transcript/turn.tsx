import { memo } from 'react'
import { countOf, fileSize, groupDigits } from '../../../src/encoding/amounts.ts'
import type { LiveView, MessageItem, TurnItem, TurnView, ViewItem } from '../session/turn-view.ts'
import { CopyButton } from './copy-button.tsx'
import { Markdown } from './markdown.tsx'
import { Resource, stateOf } from './resource.tsx'
import { cut, visible } from './text.ts'
import { ToolCard } from './tool-card.tsx'

/** One Turn: the message, what happened, the answer, and how it ended. */
export const Turn = memo(function Turn({
  sessionId,
  turn,
  live,
  isAsking = false,
  isLeft = false,
}: {
  readonly sessionId: string
  readonly turn: TurnView
  /** Only of the Turn that runs. */
  readonly live: LiveView | undefined
  /** It waits for an answer to a question. */
  readonly isAsking?: boolean
  /** The process that ran it is gone. */
  readonly isLeft?: boolean
}) {
  return (
    <article className="turn" data-turn={turn.key} aria-label="Turn">
      {turn.items.map((item, at) => (
        <Item
          key={`${item.kind}-${at}`}
          item={item}
          turn={turn}
          sessionId={sessionId}
          live={live}
        />
      ))}
      {live !== undefined && <Live live={live} isAsking={isAsking} />}
      {isLeft && (
        <p className="notice left" role="status">
          No process runs this Turn any more: it was stopped in the middle. Everything above is
          kept; your next message records its end and continues.
        </p>
      )}
      <End turn={turn} />
    </article>
  )
})

function Item({
  item,
  turn,
  sessionId,
  live,
}: {
  readonly item: TurnItem
  readonly turn: TurnView
  readonly sessionId: string
  readonly live: LiveView | undefined
}) {
  switch (item.kind) {
    case 'message':
      return <Message item={item} turn={turn} sessionId={sessionId} />
    case 'answer':
      return (
        <div className="answer">
          <Markdown text={item.text} />
          {item.isPartial && <p className="notice">This answer was cut off.</p>}
          {item.resources.map((one) => (
            <Resource
              key={one.resource_id}
              sessionId={sessionId}
              descriptor={one}
              state={`Made by the agent. ${stateOf(turn, one)}`}
            />
          ))}
          {item.text !== '' && <CopyButton text={item.text} what="answer" />}
        </div>
      )
    case 'thinking':
      return <Thinking text={item.text} isLive={false} />
    case 'call': {
      const made = item.result?.resources ?? []
      return (
        <>
          <ToolCard
            item={item}
            progress={live?.progress.get(item.call.call_id)}
            isOpen={turn.status === 'open'}
          />
          {made.map((one) => (
            <Resource
              key={one.resource_id}
              sessionId={sessionId}
              descriptor={one}
              state={`Added by the agent. ${stateOf(turn, one)}`}
            />
          ))}
        </>
      )
    }
    case 'plan':
      return (
        <section className="card" aria-label="Plan">
          <strong>Plan</strong>
          <ul className="plan">
            {item.entries.map(({ content, status }, at) => (
              <li key={at} className={status}>
                <span aria-hidden="true">{MARKS[status]} </span>
                {visible(content)} <span className="quiet">{STATES[status]}</span>
              </li>
            ))}
          </ul>
        </section>
      )
    case 'view':
      return <View item={item} sessionId={sessionId} />
    case 'notice':
      return (
        <p className="notice" data-code={item.code}>
          {visible(item.text)}
        </p>
      )
    case 'decision':
      return (
        <p className="quiet">
          {item.decision.decision === 'allowed' ? 'Allowed' : 'Denied'}:{' '}
          {visible(cut(item.decision.subject, 300).shown)}
          {item.decision.by === 'timeout' ? ' (nobody answered in time)' : ''}
          {item.decision.reason === undefined ? '' : ` · ${visible(item.decision.reason)}`}
        </p>
      )
    case 'command':
      return (
        <section className="card" aria-label="Your command">
          <header>
            <strong>Your command</strong>
            <code dir="ltr">{visible(item.command.command)}</code>
            <span className="quiet">{item.result?.outcome ?? 'running'}</span>
          </header>
          {item.result !== undefined && item.result.output !== '' && (
            <pre className="output" dir="ltr" tabIndex={0} role="region" aria-label="Output">
              {visible(cut(item.result.output).shown)}
            </pre>
          )}
        </section>
      )
    default:
      return item satisfies never
  }
}

function View({
  item: { view, descriptor },
  sessionId,
}: {
  readonly item: ViewItem
  readonly sessionId: string
}) {
  const state = `Viewed again ${VIEWED_BY[view.by]}: sent to the model on this Turn`
  return descriptor === undefined ? (
    <p className="quiet">
      {view.handle} · {state}
    </p>
  ) : (
    <Resource sessionId={sessionId} descriptor={descriptor} state={state} />
  )
}

const VIEWED_BY = { model: 'by the model', person: 'by you', hydration: 'by a Skill' } as const

const MARKS = { pending: '○', in_progress: '◐', completed: '●' } as const
const STATES = { pending: '', in_progress: 'now', completed: 'done' } as const

function Message({
  item: { message },
  turn,
  sessionId,
}: {
  readonly item: MessageItem
  readonly turn: TurnView
  readonly sessionId: string
}) {
  const { text, resources = [], mentions = [], piped, steer } = message
  const { shown, rest } = cut(text)
  const from = fromWords(turn.presenter)
  return (
    <div className="message">
      {(from !== undefined || steer === true) && (
        <p className="quiet">{steer === true ? 'Added while it ran' : from}</p>
      )}
      <p className="text" dir="auto">
        {visible(shown)}
      </p>
      {rest > 0 && <p className="quiet">{countOf(rest, 'more character')}</p>}
      {piped !== undefined && <p className="quiet">With {fileSize(piped.length)} of piped text</p>}
      {mentions.length > 0 && (
        <p className="quiet">
          Included:{' '}
          {mentions.map(({ path }) => (
            <bdi key={path}>{visible(path)} </bdi>
          ))}
        </p>
      )}
      {resources.map((one) => (
        <Resource
          key={one.resource_id}
          sessionId={sessionId}
          descriptor={one}
          state={stateOf(turn, one)}
        />
      ))}
    </div>
  )
}

/** Turns that this server did not start: their Events arrive, and their deltas do not. */
const FROM: Readonly<Record<string, string>> = {
  cli: 'From the terminal: without live text',
  acp: 'From an editor: without live text',
  library: 'From a program: without live text',
  tether: 'From an Instance',
}

function fromWords(presenter: string): string | undefined {
  if (presenter === 'http' || presenter === '') return undefined
  return FROM[presenter] ?? 'From another program: without live text'
}

function Live({
  live: { text, thinking, status },
  isAsking,
}: {
  readonly live: LiveView
  readonly isAsking: boolean
}) {
  const doing = text !== '' ? 'Writing…' : status !== '' ? visible(status) : 'Working…'
  return (
    <>
      {thinking !== '' && <Thinking text={thinking} isLive />}
      {text !== '' && (
        <div className="answer streaming">
          <Markdown text={text} />
        </div>
      )}
      <p className="quiet status" role="status">
        {isAsking ? 'Waiting for you' : doing}
      </p>
    </>
  )
}

function Thinking({ text, isLive }: { readonly text: string; readonly isLive: boolean }) {
  return (
    <details className="thinking">
      <summary>
        {isLive ? 'Thinking' : 'Thought'}, {countOf(text.split(/\s+/).length, 'word')}
      </summary>
      <p dir="auto">{visible(cut(text).shown)}</p>
    </details>
  )
}

function End({ turn: { status, error, crashRecovered, usage } }: { readonly turn: TurnView }) {
  if (status === 'open' || status === 'between') return null
  return (
    <footer className="turn-end">
      {status === 'interrupted' && (
        <p className="notice">
          {crashRecovered ? 'Ended by a crash: what it had written is above.' : 'Interrupted.'}
        </p>
      )}
      {error !== undefined && status !== 'interrupted' && (
        <p className="problem" role="alert">
          {visible(error.message)}{' '}
          <CopyButton text={`${error.kind}: ${error.message}`} what="error" />
        </p>
      )}
      {usage !== undefined && usage.calls > 0 && (
        <p className="quiet">
          {groupDigits(usage.input)} tokens in ({groupDigits(usage.cached_read)} cached),{' '}
          {groupDigits(usage.output)} out
          {usage.cost_usd === undefined ? '' : ` · $${usage.cost_usd.toFixed(4)}`}
        </p>
      )}
    </footer>
  )
}

/** A message that the server has not confirmed yet. */
export function PendingMessage({
  text,
  files,
  isStopped,
}: {
  readonly text: string
  readonly files: readonly string[]
  readonly isStopped: boolean
}) {
  return (
    <article className="turn pending" aria-label="Message that is being sent">
      <div className="message">
        <p className="text" dir="auto">
          {visible(cut(text).shown)}
        </p>
        {files.map((name, at) => (
          <p key={at} className="quiet">
            <bdi>{visible(name)}</bdi>
          </p>
        ))}
        <p className="quiet" role="status">
          {isStopped ? 'Not confirmed yet. It is sent again when the server is back.' : 'Sending…'}
        </p>
      </div>
    </article>
  )
}
