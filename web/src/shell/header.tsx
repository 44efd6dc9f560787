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
  const { info, settings, isRunning, pressure } = view
  const title = info?.title === undefined || info.title === '' ? 'New Session' : info.title
  const percent = pressure === undefined ? undefined : Math.round(pressure.ratio * 100)
  const { ratio = 0, window_tokens = 0 } = pressure ?? {}
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
          className="quiet fullness"
          title={`About ${groupDigits(Math.round(ratio * window_tokens))} of ${groupDigits(window_tokens)} tokens`}
        >
          {percent} %{' '}
          <span className="meter" aria-hidden="true">
            <span style={{ width: `${Math.min(100, percent)}%` }} />
          </span>
          <span className="spoken"> of the window of the model</span>
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
