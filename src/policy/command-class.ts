/** Programs that only read. A mistake here does no harm: such a command runs with everything read-only. */
const READING = new Set(
  (
    'basename cat cmp column comm cut date df diff dirname du echo env false file find grep head hexdump id ls md5sum nl od ' +
    'printenv printf pwd readlink realpath rg seq sha256sum sort stat strings tail test tr tree true type uname uniq wc which whoami'
  ).split(' '),
)
const READING_GIT = new Set(
  'blame branch describe diff grep log ls-files rev-parse shortlog show status tag'.split(' '),
)

/**
 * Whether a shell command appears to only read. Used only to decide whether to ask: the sandbox decides what a command can
 * do.
 */
export function looksReadOnly(command: string): boolean {
  // Ask about anything that could start, write or hide something else.
  if (/[;&<>`$(){}\\\n\r\u00a0!]/.test(command)) return false
  return command.split('|').every((part) => {
    const [program = '', first = ''] = part.trim().split(/\s+/)
    return program === 'git' ? READING_GIT.has(first) : READING.has(program)
  })
}
