import { groupDigits } from '../../../src/encoding/amounts.ts'
import { visible } from '../transcript/text.ts'
import type { SessionView } from '../session/session-client.ts'

/** What this Session is: its title, its model, and how full the model's window is. */
export function Header({
  view,
  onMenu,
}: {
  readonly view: SessionView
  readonly onMenu: () => void
}) {
  const { info, settings, live, isRunning } = view
  const title = info?.title === undefined || info.title === '' ? 'New Session' : info.title
  const { ratio, input_tokens, window_tokens } = live.pressure ?? {}
  const percent = ratio === undefined ? undefined : Math.round(ratio * 100)
  return (
    <header className="session-head">
      <button type="button" className="menu" aria-label="Sessions" onClick={onMenu}>
        ☰
      </button>
      <h1 title={info?.projectRoot} dir="auto">
        {visible(title.slice(0, 200))}
      </h1>
      <span className="quiet model">{visible(settings.model ?? info?.model ?? '')}</span>
      {percent !== undefined && (
        <span
          className="quiet"
          title={`${groupDigits(input_tokens ?? 0)} of ${groupDigits(window_tokens ?? 0)} tokens`}
        >
          {percent} % of the window
        </span>
      )}
      <span className="quiet run-state" role="status">
        {isRunning
          ? info?.runsHere === false && info.busy
            ? '● running elsewhere'
            : '● running'
          : ''}
      </span>
    </header>
  )
}
