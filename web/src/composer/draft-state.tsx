import { visible } from '../transcript/text.ts'
import type { KeptDraft } from './draft-keeper.ts'

/** Whether what is typed is safe, and the choice between two versions. Silent while the server has it. */
export function DraftState({
  kept: { state, other, draft },
  onChoose,
}: {
  readonly kept: KeptDraft
  readonly onChoose: (which: 'mine' | 'theirs') => void
}) {
  if (state === 'local')
    return (
      <p className="quiet" role="status" data-draft="local">
        Your draft is safe in this browser; the server gets it when it is back.
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
