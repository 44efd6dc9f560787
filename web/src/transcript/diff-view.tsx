import { visible } from './text.ts'

/** A unified diff by lines; a sign and a word say what the colour says. */
export function DiffView({ diff }: { readonly diff: string }) {
  const lines = diff.split('\n')
  const shown = lines.slice(0, MOST_LINES)
  const count = (sign: string) =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length
  return (
    <div className="diff" dir="ltr" role="region" aria-label="Changes" tabIndex={0}>
      <p className="quiet">
        {count('+')} added, {count('-')} removed
      </p>
      <pre>
        {shown.map((line, at) => (
          <span key={at} className={classOf(line)}>
            {visible(line.slice(0, LONGEST_LINE))}
            {'\n'}
          </span>
        ))}
      </pre>
      {lines.length > shown.length && (
        <p className="quiet">{lines.length - shown.length} more lines</p>
      )}
    </div>
  )
}

const MOST_LINES = 2_000
const LONGEST_LINE = 2_000

function classOf(line: string): string {
  if (/^(?:---|\+\+\+) /.test(line)) return 'diff-file'
  if (line.startsWith('@@')) return 'diff-place'
  if (line.startsWith('+')) return 'diff-added'
  return line.startsWith('-') ? 'diff-removed' : ''
}
