// What a model reads of tool calls. Every sentence of this folder is part of the Prompt Contract: see `version.ts`.

/** Of a call whose end was never recorded. */
export const NO_RESULT = 'No result was recorded: it is not known whether this call ran.'

/** A result that is `ok` and empty: vendors refuse a blank one. */
export const NO_OUTPUT = '[no output]'

/** Stands before a result that is not `ok`. */
export function outcomeLabel(outcome: string): string {
  return `[outcome: ${outcome}]`
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
