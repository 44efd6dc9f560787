import { failed, type HawserError } from '../../model/errors.ts'

type Failure = ReturnType<typeof failed>

export function unknownCommand(argv: readonly string[]): Failure {
  const word = argv.find((argument) => argument !== '--json')
  return failed(
    'invalid_args',
    word === undefined ? 'A command is missing.' : `There is no command ${visible(word)}.`,
    { arguments: argv },
    [{ action: 'show_help', command: 'hawser --help' }],
  )
}

export function failureAsJson(failure: Failure): string {
  return `${JSON.stringify(failure)}\n`
}

export function failureAsText({ error }: { readonly error: HawserError }): string {
  const commands = error.next_actions.flatMap(({ command }) => command ?? [])
  return [`hawser: ${error.message}`, ...commands.map((command) => `Try: ${command}`), ''].join(
    '\n',
  )
}

/** Quotes what came from outside, so that it can neither break the line nor move the cursor. */
function visible(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (sign) => String.raw`\u{${sign.codePointAt(0)?.toString(16)}}`,
  )
}
