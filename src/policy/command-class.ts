/** Programs that only look. Taken for more than they are they do no harm: such a command runs with everything read-only. */
const LOOKING = new Set(
  (
    'basename cat cmp column comm cut date df diff dirname du echo env false file find grep head hexdump id ls md5sum nl od ' +
    'printenv printf pwd readlink realpath rg seq sha256sum sort stat strings tail test tr tree true type uname uniq wc which whoami'
  ).split(' '),
)
const LOOKING_AT_GIT = new Set(
  'blame branch describe diff grep log ls-files rev-parse shortlog show status tag'.split(' '),
)

/**
 * Whether a shell command looks as if it only reads. Used to decide whether to ask, and for nothing else: what a command can
 * do is decided by its sandbox.
 */
export function looksReadOnly(command: string): boolean {
  // Anything that could start, write or hide something else is asked about.
  if (/[;&<>`$(){}\\\n\r\u00a0!]/.test(command)) return false
  return command.split('|').every((part) => {
    const [program = '', first = ''] = part.trim().split(/\s+/)
    return program === 'git' ? LOOKING_AT_GIT.has(first) : LOOKING.has(program)
  })
}
