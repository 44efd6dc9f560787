import { lazy, memo, Suspense } from 'react'
import { countOf } from '../../../src/encoding/amounts.ts'
import type { CallItem } from '../session/turn-view.ts'
import { CopyButton } from './copy-button.tsx'
import { cut, visible } from './text.ts'

const DiffView = lazy(async () => ({
  default: (await import('./diff-view.tsx')).DiffView,
}))

/** One call of a tool: what it was, how it ended, and what it returned, folded with a count. */
export const ToolCard = memo(function ToolCard({
  item: { call, result },
  progress,
  isOpen,
}: {
  readonly item: CallItem
  readonly progress: string | undefined
  /** Its Turn is open. */
  readonly isOpen: boolean
}) {
  const output = result?.output ?? ''
  const { shown, rest } = cut(output)
  const lines = output === '' ? 0 : output.replace(/\n$/, '').split('\n').length
  const outcome =
    result === undefined ? (isOpen ? 'running' : 'no result') : OUTCOMES[result.outcome]
  return (
    <section className="card" aria-label={`${call.name}: ${outcome}`}>
      <header>
        <span className={`outcome outcome-${result?.outcome ?? 'none'}`}>{outcome}</span>
        <strong>{visible(call.name)}</strong>
        <code className="argument" dir="ltr">
          {mainArgument(call.arguments)}
        </code>
        {result?.exit_code !== undefined && (
          <span className="quiet">exit code {result.exit_code}</span>
        )}
        {result !== undefined && <span className="quiet">{seconds(result.duration_ms)}</span>}
      </header>
      {result?.diff !== undefined && result.diff !== '' && (
        <Suspense fallback={<p className="quiet">Loading the changes…</p>}>
          <DiffView diff={result.diff} />
        </Suspense>
      )}
      {result?.error !== undefined && <p className="problem">{visible(result.error.message)}</p>}
      {result === undefined && progress !== undefined && (
        <pre className="output" dir="ltr" tabIndex={0} role="region" aria-label="Output so far">
          {visible(progress)}
        </pre>
      )}
      <details>
        <summary>Arguments</summary>
        <pre dir="ltr">{cut(visible(pretty(call.arguments))).shown}</pre>
      </details>
      {output !== '' && (
        <details>
          <summary>
            Output, {countOf(lines, 'line')}
            {result?.truncated === true ? ', cut' : ''}
          </summary>
          <CopyButton text={output} what="output" />
          <pre className="output" dir="ltr" tabIndex={0} role="region" aria-label="Output">
            {visible(shown)}
          </pre>
          {rest > 0 && <p className="quiet">{countOf(rest, 'more character')}; copy has all</p>}
        </details>
      )}
    </section>
  )
})

const OUTCOMES = {
  ok: '✓ done',
  failed: '✗ failed',
  denied: '⊘ denied',
  unknown: '? unknown: it may have run before a crash',
} as const

/** The one argument that says what the call does. */
function mainArgument(text: string): string {
  const given = parsed(text)
  const value = ['command', 'path', 'pattern', 'url', 'query', 'name', 'handle']
    .map((field) => given[field])
    .find((one) => typeof one === 'string')
  return visible((value ?? '').slice(0, 200))
}

export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
