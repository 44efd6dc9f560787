import { failed, type NextAction } from '../../model/errors.ts'
import { jsonLine } from './json-line.ts'
import { visibleLine, visibleText } from './visible-text.ts'

type Failure = ReturnType<typeof failed>

export function unknownCommand(argv: readonly string[], nearest?: string): Failure {
  const word = argv.find((argument) => argument !== '--json')
  const named = word === undefined ? undefined : visibleLine(JSON.stringify(word))
  const message = named === undefined ? 'A command is missing.' : `There is no command ${named}.`
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return failed('invalid_args', message + hint, { arguments: argv }, [
    { action: 'show_help', command: 'hawser --help' },
  ])
}

export function failureAsJson(failure: Failure): string {
  return jsonLine(failure)
}

interface Told {
  readonly message: string
  readonly next_actions?: readonly NextAction[] | undefined
}

/** In words. Also of an error as it was logged, which leaves out what is empty. */
export function failureAsText({ error }: { readonly error: Told }): string {
  const { message, next_actions = [] } = error
  const next = next_actions.map(({ action, command }) =>
    command === undefined ? `Next: ${visibleLine(action)}` : `Try: ${visibleLine(command)}`,
  )
  return [`hawser: ${visibleText(message)}`, ...next, ''].join('\n')
}
