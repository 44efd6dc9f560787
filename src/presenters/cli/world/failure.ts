import { isJsonObject } from '../../../encoding/json.ts'
import type * as z from 'zod'
import type { ErrorObject } from '../../../model/error-shape.ts'
import { failed, type HawserError, type NextAction } from '../../../model/errors.ts'
import { jsonLine } from '../text/json-line.ts'
import { refusalWords } from '../text/resource-words.ts'
import { visibleLine, visibleText } from '../text/visible-text.ts'

type Failure = ReturnType<typeof failed>

export function unknownCommand(argv: readonly string[], nearest?: string): Failure {
  const word = argv.find((argument) => argument !== '--json')
  const named = word === undefined ? undefined : visibleLine(JSON.stringify(word))
  const message = named === undefined ? 'Missing command.' : `Unknown command ${named}.`
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest.replaceAll(', ', ' or ')}?`
  const isWord = nearest === undefined && /^[\p{L}\p{N}]+$/u.test(word ?? '')
  const asPrompt = isWord ? [{ action: 'send_prompt', command: `hawser run ${named}` }] : []
  return failed('invalid_args', message + hint, { arguments: argv }, [...asPrompt, showHelp('')])
}

/** The next step after a usage error. `command` is the name of the command, or empty for the program. */
export function showHelp(command: string): NextAction {
  return { action: 'show_help', command: ['hawser', command, '--help'].filter(Boolean).join(' ') }
}

/** An error as a field of a JSON output. */
export function errorOutput(error: HawserError): z.infer<typeof ErrorObject> {
  const { details, next_actions } = error
  return { ...error, details: { ...details }, next_actions: [...next_actions] }
}

export function failureAsJson(failure: Failure): string {
  return jsonLine(failure)
}

interface ErrorFacts {
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly next_actions?: readonly NextAction[] | undefined
}

/** An error as text. Accepts an error read from a Log, where empty fields are absent. */
export function failureAsText({ error }: { readonly error: ErrorFacts }): string {
  const { message, details = {}, next_actions = [] } = error
  const next = next_actions.map(({ action, command }) =>
    command === undefined ? `Next: ${visibleLine(action)}` : `Try: ${visibleLine(command)}`,
  )
  return [`hawser: ${visibleText(message)}`, ...refusalsIn(details), ...next, ''].join('\n')
}

/** Rejected attachments with their reasons. Each is named by the path as given: two files can have the same name. */
export function refusalsIn({ attachmentErrors }: NonNullable<ErrorFacts['details']>): string[] {
  const all: readonly unknown[] = Array.isArray(attachmentErrors) ? attachmentErrors : []
  return all.flatMap((one) =>
    isJsonObject(one) && typeof one['path'] === 'string' && typeof one['reason'] === 'string'
      ? [refusalWords({ name: one['path'], reason: one['reason'] })]
      : [],
  )
}
