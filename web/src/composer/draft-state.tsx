import { visible } from '../transcript/text.ts'
import type { KeptDraft } from './draft-keeper.ts'

/** Whether what is typed is safe, and the choice between two versions. Silent while the server has it. */
export function DraftState({
  kept: { state, other, draft, problem, isOnlyHere },
  onChoose,
}: {
  readonly kept: KeptDraft
  readonly onChoose: (which: 'mine' | 'theirs') => void
}) {
  if (isOnlyHere && (state === 'local' || state === 'refused'))
    return (
      <p className="problem" role="alert" data-draft={state}>
        Only this tab has your draft: neither the server nor this browser can store it. Copy it, or
        make it shorter. {visible(problem)}
      </p>
    )
  if (state === 'local')
    return (
      <p className="quiet" role="status" data-draft="local">
        Your draft is safe in this browser; the server gets it when it is back.
      </p>
    )
  if (state === 'refused')
    return (
      <p className="problem" role="alert" data-draft="refused">
        Your draft is safe in this browser only. The server does not store it: {visible(problem)}
      </p>
    )
  if (state !== 'conflict' || other === undefined) return <span hidden data-draft={state} />
  return (
    <section
      className="notice conflict"
      aria-label="Two versions of this draft"
      data-draft="conflict"
    >
      <p>This draft was changed in another tab or browser.</p>
      <dl>
        <dt>Here</dt>
        <dd dir="auto">{visible(draft.text.slice(0, 500)) || '(empty)'}</dd>
        <dt>There</dt>
        <dd dir="auto">{visible(other.text.slice(0, 500)) || '(empty)'}</dd>
      </dl>
      <button type="button" onClick={() => onChoose('mine')}>
        Keep what is here
      </button>{' '}
      <button type="button" onClick={() => onChoose('theirs')}>
        Take what is there
      </button>
    </section>
  )
}
