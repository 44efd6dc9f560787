import { Dialog } from './dialog.tsx'

const KEYS = [
  ['Enter', 'send; while a Turn runs, queue'],
  ['Shift+Enter', 'break the line'],
  ['Alt+Enter', 'steer the running Turn'],
  ['@', 'include a file of the workspace'],
  ['/', 'use a Skill'],
  ['Ctrl+K', 'search Sessions and commands'],
  ['Alt+N', 'new Session'],
  ['Alt+Q', 'go to the open question; then its number answers'],
  ['Alt+M', 'go to the message'],
  ['Alt+T', 'go to the transcript'],
  ['Alt+.', 'interrupt the running Turn'],
  ['?', 'this list, outside of a text'],
] as const

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([key, action]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
