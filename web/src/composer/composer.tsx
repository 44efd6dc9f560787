import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react'
import type { WaitingMessage } from '../api/shapes.ts'
import type { SessionView } from '../session/session-client.ts'
import { useStore } from '../store/store.ts'
import { visible } from '../transcript/text.ts'
import { Chips } from './chips.tsx'
import { ChoicesBar } from './choices-bar.tsx'
import { suggestionsFor, triggerAt, type Suggestion, type Trigger } from './completion.ts'
import { DraftState } from './draft-state.tsx'
import type { DraftKeeper } from './draft-keeper.ts'
import type { Outbox, Way } from './outbox.ts'
import { pastedFiles } from './given-files.ts'
import { QueueList, useQueue, type Queue } from './queue.tsx'
import type { Uploads } from './uploads.ts'

export interface ComposerParts {
  readonly keeper: DraftKeeper
  readonly outbox: Outbox
  readonly uploads: Uploads
  readonly queue: Queue
}

/** Where a message is written. Enter sends it; a paste never does. */
export function Composer({
  sessionId,
  parts: { keeper, outbox, uploads, queue },
  view,
  input,
  onInterrupt,
}: {
  readonly sessionId: string
  readonly parts: ComposerParts
  readonly view: SessionView
  readonly input: RefObject<HTMLTextAreaElement | null>
  readonly onInterrupt: () => void
}) {
  const kept = useStore(keeper.store)
  const rollback = useStore(outbox.rollback)
  const onTheWay = useStore(uploads.store)
  const { draft } = kept
  const { isRunning, settings } = view
  const waiting = useQueue(queue, isRunning, view.turns.length)
  const [suggestions, setSuggestions] = useState<readonly Suggestion[]>([])
  const [chosen, setChosen] = useState(0)
  const [trigger, setTrigger] = useState<Trigger>()
  const [due, setDue] = useState<Way>()
  const picker = useRef<HTMLInputElement>(null)

  useEffect(() => void uploads.check(draft.attachments), [uploads, draft.attachments])
  useCaret(input, draft.text, draft.caret, kept.state)
  useEffect(() => followCaret(input, keeper), [input, keeper])
  useEffect(() => {
    if (trigger === undefined) return setSuggestions([])
    const stop = new AbortController()
    const timer = setTimeout(() => {
      void suggestionsFor(sessionId, trigger, stop.signal).then((found) => {
        if (stop.signal.aborted) return
        setSuggestions(found)
        setChosen(0)
        // Typed in full, without choosing it.
        const { sign, text } = trigger
        const known = sign === '@' ? keeper.draft.mentions : keeper.draft.skills
        if (found.some(({ value }) => value === text) && !known.includes(text))
          keeper.edit(named(keeper, sign, text))
      })
    }, 80)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [sessionId, trigger?.sign, trigger?.text, trigger?.start])

  const isUploading = onTheWay.some(({ problem }) => problem === undefined)
  const isEmpty = draft.text.trim() === '' && draft.attachments.length === 0
  const send = (way: Way) => {
    if (kept.state === 'loading') return
    // Sent as soon as the files are there, unless something is typed meanwhile.
    if (isUploading) return setDue(way)
    if (isEmpty) return
    setDue(undefined)
    outbox.send(way, view.lastSeq)
    setTrigger(undefined)
  }
  useEffect(() => {
    if (due !== undefined && !isUploading) send(due)
  }, [due, isUploading])
  const typed = (element: HTMLTextAreaElement) => {
    setDue(undefined)
    const caret = { start: element.selectionStart, end: element.selectionEnd }
    keeper.edit({ text: element.value, caret })
    setTrigger(triggerAt(element.value, caret.end))
  }
  const complete = ({ value }: Suggestion) => {
    if (trigger === undefined) return
    const end = trigger.start + 1 + trigger.text.length
    const text = `${draft.text.slice(0, trigger.start)}${trigger.sign}${value} ${draft.text.slice(end)}`
    const at = trigger.start + value.length + 2
    keeper.edit({ text, caret: { start: at, end: at }, ...named(keeper, trigger.sign, value) })
    setTrigger(undefined)
    input.current?.focus()
  }
  const pressed = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    // A key that completes a character of an input method is not one of these.
    if (event.nativeEvent.isComposing) return
    if (suggestions.length > 0 && trigger !== undefined) {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
      const found = suggestions[chosen]
      if (step !== 0) setChosen((chosen + step + suggestions.length) % suggestions.length)
      else if ((event.key === 'Enter' || event.key === 'Tab') && found !== undefined)
        complete(found)
      else if (event.key === 'Escape') setTrigger(undefined)
      else return
      event.preventDefault()
      return
    }
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    send(isRunning ? (event.altKey ? 'steer' : 'queue') : 'turn')
  }

  return (
    <form
      className="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault()
        send(isRunning ? 'queue' : 'turn')
      }}
    >
      <QueueList
        queue={queue}
        waiting={waiting}
        onEdit={(message) => {
          input.current?.focus()
          return takeIn(keeper, message)
        }}
      />
      {rollback !== undefined && (
        <div className="problem rollback" role="alert">
          <p>Not sent: {visible(rollback.message)}</p>
          {rollback.files.length > 0 && (
            <ul>
              {rollback.files.map(({ path: file, reason }) => (
                <li key={file}>
                  <bdi>{visible(file.slice(file.lastIndexOf('/') + 1))}</bdi>: {visible(reason)}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <DraftState kept={kept} onChoose={(which) => keeper.choose(which)} />
      <Chips files={draft.attachments} uploads={uploads} rollback={rollback} />
      {suggestions.length > 0 && trigger !== undefined && (
        <ul className="suggestions" role="listbox" id="suggestions" aria-label="Suggestions">
          {suggestions.map((one, at) => (
            <li
              key={one.value}
              id={`suggestion-${at}`}
              role="option"
              aria-selected={at === chosen}
              ref={at === chosen ? intoView : undefined}
              onMouseDown={(event) => {
                event.preventDefault()
                complete(one)
              }}
            >
              <bdi>{visible(one.value)}</bdi>{' '}
              <span className="quiet">{visible(one.about.slice(0, 80))}</span>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={input}
        value={draft.text}
        dir="auto"
        rows={2}
        aria-label="Message"
        aria-autocomplete="list"
        aria-controls={suggestions.length > 0 ? 'suggestions' : undefined}
        aria-activedescendant={suggestions.length > 0 ? `suggestion-${chosen}` : undefined}
        placeholder={isRunning ? 'Write the next message' : 'Write a message'}
        onChange={(event) => typed(event.target)}
        onKeyDown={pressed}
        onPaste={(event) => {
          const files = pastedFiles(event.clipboardData)
          if (files.length === 0) return
          event.preventDefault()
          uploads.add(files)
        }}
      />
      <div className="composer-bar">
        <button type="button" className="quiet" onClick={() => picker.current?.click()}>
          Attach
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Attach files"
          onChange={(event) => {
            uploads.add(event.target.files ?? [])
            event.target.value = ''
          }}
        />
        <ChoicesBar
          settings={settings}
          choices={draft.choices}
          onChange={(choices) => keeper.edit({ choices })}
        />
        <span className="actions">
          {isRunning && (
            <>
              <button type="button" onClick={onInterrupt}>
                Interrupt
              </button>
              <button
                type="button"
                disabled={isEmpty || isUploading || draft.attachments.length > 0}
                onClick={() => send('steer')}
              >
                Steer
              </button>
            </>
          )}
          <button type="submit" className="primary" disabled={isEmpty && !isUploading}>
            {due !== undefined ? 'Sends when the files are there' : isRunning ? 'Queue' : 'Send'}
          </button>
        </span>
      </div>
    </form>
  )
}

/** What the list has chosen is seen, also with the keyboard. */
function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

function named({ draft }: DraftKeeper, sign: Trigger['sign'], value: string) {
  return sign === '@'
    ? { mentions: [...new Set([...draft.mentions, value])] }
    : { skills: [...new Set([...draft.skills, value])] }
}

/** Puts a message before what is in the composer. Returns what takes it out again, unless it was changed. */
function takeIn(keeper: DraftKeeper, message: WaitingMessage): () => void {
  const { text, attachments, mentions, skills, choices } = message
  const before = keeper.draft
  const all = before.text === '' ? text : `${text}\n${before.text}`
  keeper.edit({
    text: all,
    attachments: [...attachments, ...before.attachments],
    mentions: [...new Set([...mentions, ...before.mentions])],
    skills: [...new Set([...skills, ...before.skills])],
    choices: { ...choices, ...before.choices },
    caret: { start: text.length, end: text.length },
  })
  return () => {
    const { unconfirmed, text: now } = keeper.draft
    if (now === all) keeper.edit({ ...before, unconfirmed })
  }
}

/** Every move of the caret is part of the draft. Returns the function that ends it. */
function followCaret(
  input: RefObject<HTMLTextAreaElement | null>,
  keeper: DraftKeeper,
): () => void {
  const moved = () => {
    const element = input.current
    if (element === null || document.activeElement !== element) return
    const { selectionStart: start, selectionEnd: end, value } = element
    const { caret, text } = keeper.draft
    // What is typed has its own event, which comes with the text.
    if (value === text && (start !== caret.start || end !== caret.end))
      keeper.edit({ caret: { start, end } })
  }
  document.addEventListener('selectionchange', moved)
  return () => document.removeEventListener('selectionchange', moved)
}

/** The text field grows with its text, and has the caret of the draft after text came from elsewhere. */
function useCaret(
  input: RefObject<HTMLTextAreaElement | null>,
  text: string,
  caret: { readonly start: number; readonly end: number },
  state: string,
): void {
  useLayoutEffect(() => {
    const element = input.current
    if (element === null) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight}px`
    if (element.selectionStart !== caret.start || element.selectionEnd !== caret.end)
      element.setSelectionRange(caret.start, caret.end)
    // Not on every move of the caret, which is its own.
  }, [input, text, state === 'loading'])
}
