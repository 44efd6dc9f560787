import {
  PROGRAM_OPTIONS,
  type Completable,
  type Entry,
  type EntryOption,
  type Group,
} from './vocabulary.ts'

/** Rules for fish's `complete`. */
export function fishScript(entries: readonly Entry[], groups: readonly Group[]): string {
  return `# Completes commands of hawser in fish. Usage: hawser completions fish | source
function __hawser_words
    commandline -opc | tail -n +2 | string match -v -- '-*'
end
function __hawser_is
    set -l line (__hawser_words | string join ' ')
    test "$line" = "$argv"
end
function __hawser_in
    set -l line (__hawser_words | string join ' ')
    string match -q -- "$argv *" "$line "
end
function __hawser_at
    __hawser_in $argv[2..-1]; and test (count (__hawser_words)) -eq (math (count $argv) - 1 + $argv[1])
end
function __hawser_sessions
    echo latest
    hawser sessions --json 2>/dev/null </dev/null | string match -ra 'ses_[0-9a-z]{26}' | sort -u
end
function __hawser_skills
    hawser skills --json 2>/dev/null </dev/null | string match -ra '[A-Za-z0-9][A-Za-z0-9_.-]*/SKILL[.]md"' | string replace -r '/.*' '' | sort -u
end
complete -c hawser -f
${[...PROGRAM_OPTIONS.map((option) => optionLine('__hawser_is', option)), ...groups.flatMap(groupLines), ...entries.flatMap(entryLines)].join('\n')}
`
}

function groupLines({ name, next }: Group): string[] {
  const when = quoteWord(`__hawser_is ${name}`.trimEnd())
  return next.map(
    ({ word, summary }) => `complete -c hawser -n ${when} -a ${word} -d ${quoteWord(summary)}`,
  )
}

function entryLines(entry: Entry): string[] {
  const args = entry.args.flatMap((expected, at) => {
    if (expected.kind === 'text') return []
    return [
      `complete -c hawser -n ${quoteWord(`__hawser_at ${at} ${entry.name}`)} ${action(expected)}`,
    ]
  })
  return [
    ...args,
    ...entry.options.map((option) => optionLine(`__hawser_in ${entry.name}`, option)),
  ]
}

function optionLine(when: string, { names, help, value }: EntryOption): string {
  const spelt = names.map((one) =>
    one.startsWith('--') ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`,
  )
  const taken = value === undefined ? [] : [`-x ${action(value)}`.trimEnd()]
  return ['complete -c hawser -n', quoteWord(when), ...spelt, ...taken, '-d', quoteWord(help)].join(
    ' ',
  )
}

function action(expected: Completable): string {
  switch (expected.kind) {
    case 'words':
      return `-a ${quoteWord(expected.words.join(' '))}`
    case 'sessions':
    case 'skills':
      return `-a '(__hawser_${expected.kind})'`
    case 'folders':
      return `-a '(__fish_complete_directories)'`
    case 'files':
      return `-a '(__fish_complete_path)'`
    case 'text':
      return ''
  }
}

function quoteWord(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
}
