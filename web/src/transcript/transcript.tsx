import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { SentMessage } from '../api/shapes.ts'
import type { SessionClient, SessionView } from '../session/session-client.ts'
import { PendingMessage, Turn } from './turn.tsx'

const NEAR_PX = 48

/** The Turns, from the end. It follows what is written only while the reader is at the end. */
export const Transcript = memo(function Transcript({
  client,
  view,
  pending,
}: {
  readonly client: SessionClient
  readonly view: SessionView
  readonly pending: readonly SentMessage[]
}) {
  const box = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const before = useRef({ first: '', end: '', sent: '' })
  const anchor = useRef<Anchor>(undefined)
  const [isBehind, setBehind] = useState(false)
  const { turns, live, hasOlder, connection } = view
  const running = turns.findLast(({ status }) => status === 'open')
  const first = turns[0]?.key ?? ''
  const last = turns.at(-1)
  const end = [last?.key, last?.items.length, live.text.length, live.thinking.length].join()
  const sent = pending.at(-1)?.messageKey ?? ''

  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    // Who sends wants to see it.
    if (sent !== '' && sent !== before.current.sent) atEnd.current = true
    if (atEnd.current) element.scrollTop = element.scrollHeight
    else {
      // Older Turns appear above what is read, which stays where it is.
      if (before.current.first !== first) element.scrollTop += movedBy(element, anchor.current)
      if (before.current.end !== end) setBehind(true)
    }
    before.current = { first, end, sent }
  })

  // Pictures and the composer change heights without an Event.
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const watch = new ResizeObserver(() => {
      if (atEnd.current) element.scrollTop = element.scrollHeight
    })
    watch.observe(element)
    for (const child of element.children) watch.observe(child)
    return () => watch.disconnect()
  }, [])

  const scrolled = () => {
    const element = box.current
    if (element === null) return
    const left = element.scrollHeight - element.scrollTop - element.clientHeight
    atEnd.current = left < NEAR_PX
    client.isAtEnd = atEnd.current
    if (atEnd.current) setBehind(false)
    // Only where older Turns may appear: looking for it among many costs time in every frame.
    const isNearStart = hasOlder && element.scrollTop < 2 * element.clientHeight
    anchor.current = isNearStart ? anchorIn(element) : undefined
    if (isNearStart && element.scrollTop < element.clientHeight && !atEnd.current)
      void client.loadOlder()
  }
  const toEnd = () => {
    atEnd.current = true
    setBehind(false)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }

  return (
    <div
      className="transcript"
      ref={box}
      onScroll={scrolled}
      tabIndex={0}
      role="log"
      aria-label="Transcript"
      aria-live="off"
    >
      <div className="column">
        {hasOlder && (
          <button type="button" className="quiet older" onClick={() => void client.loadOlder()}>
            Show older Turns
          </button>
        )}
        {turns.length === 0 && pending.length === 0 && view.phase === 'ready' && (
          <p className="empty">
            Nothing here yet. Write what you want to be done, or drop a file below.
          </p>
        )}
        {turns.map((turn) => (
          <Turn
            key={turn.key}
            sessionId={client.id}
            turn={turn}
            live={turn === running && view.isRunning ? live : undefined}
            isLeft={turn === running && view.isLeft}
            isAsking={turn === running && view.questions.length > 0}
          />
        ))}
        {pending.map(({ messageKey, text, attachments }) => (
          <PendingMessage
            key={messageKey}
            text={text}
            files={attachments.map(({ name }) => name)}
            isStopped={connection !== 'open'}
          />
        ))}
        {view.phase === 'loading' && <p className="quiet">Loading the Session…</p>}
      </div>
      {isBehind && (
        <button type="button" className="to-end" onClick={toEnd}>
          ↓ new
        </button>
      )}
    </div>
  )
})

/** The Turn that is read, and where it is in the window of the transcript. */
type Anchor = { readonly turn: HTMLElement; readonly top: number } | undefined

function anchorIn(box: HTMLElement): Anchor {
  const { top } = box.getBoundingClientRect()
  for (const turn of box.querySelectorAll<HTMLElement>('.turn')) {
    const place = turn.getBoundingClientRect()
    if (place.bottom > top) return { turn, top: place.top }
  }
  return undefined
}

function movedBy(box: HTMLElement, anchor: Anchor): number {
  if (anchor === undefined || !box.contains(anchor.turn)) return 0
  return anchor.turn.getBoundingClientRect().top - anchor.top
}
