// The texts about tool calls that a model reads. Every sentence of this folder is part of the Prompt Contract: see
// `version.ts`.

/** For a call whose result was never recorded. */
export const NO_RESULT = 'No result was recorded: it is not known whether this call ran.'

/** For an empty result that is `ok`, because vendors refuse blank results. */
export const NO_OUTPUT = '[no output]'

/** Precedes a result that is not `ok`. */
export function outcomeLabel(outcome: string): string {
  return `[outcome: ${outcome}]`
}

interface ElidedResult {
  readonly seq: number
  readonly name: string
  readonly output: string
}

/** Replaces a long output that a checkpoint elided. The outcome stays beside it. */
export function elided({ seq, name, output }: ElidedResult): string {
  const bytes = new TextEncoder().encode(output).length
  return `[Output of ${name} elided: ${bytes} bytes. To read it: history_search with seq ${seq}.]`
}

/** A result as a model reads it. */
export function resultText({
  outcome,
  output,
}: {
  readonly outcome: string
  readonly output: string
}): string {
  if (outcome === 'ok') return output === '' ? NO_OUTPUT : output
  return output === '' ? outcomeLabel(outcome) : `${outcomeLabel(outcome)}\n${output}`
}
