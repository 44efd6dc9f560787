import {
  longName,
  PROGRAM_OPTIONS,
  valueOptions,
  type Entry,
  type EntryOption,
  type Completable,
  type Group,
} from './vocabulary.ts'

/** A function for bash's `complete -F`. It runs `hawser` only to list Sessions and Skills, and ignores errors of that. */
export function bashScript(entries: readonly Entry[], groups: readonly Group[]): string {
  return `# Completes commands of hawser in bash. Usage: source <(hawser completions bash)
_hawser() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  local command='' skip='' at=0 i word
  COMPREPLY=()
  if [[ $cur == '=' ]]; then cur=''; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then skip=1; continue; fi
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${valueOptions(entries)}) skip=1; continue ;;
      -*) continue ;;
    esac
    case "$command $word" in
      ${prefixes(entries, groups)}) command="$command $word" ;;
      *) at=$((at + 1)) ;;
    esac
  done
  case "$command $prev" in
${entries.flatMap((entry) => entry.options.flatMap((option) => valueCase(entry, option))).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
${entries.map(optionsCase).join('\n')}
      *) _hawser_words ${PROGRAM_OPTIONS.map(longName).join(' ')} ;;
    esac
    return
  fi
  if [[ $at == 0 ]]; then
    case $command in
${groups.map(groupCase).join('\n')}
    esac
  fi
  case "$command $at" in
${entries.flatMap((entry) => entry.args.flatMap((arg, at) => argumentCase(entry, arg, at))).join('\n')}
  esac
}
_hawser_words() { COMPREPLY+=($(compgen -W "$*" -- "$cur")); }
_hawser_sessions() {
  _hawser_words latest $("\${COMP_WORDS[0]}" sessions --json 2>/dev/null </dev/null | grep -o 'ses_[0-9a-z]\\{26\\}' | sort -u)
}
_hawser_skills() {
  _hawser_words $("\${COMP_WORDS[0]}" skills --json 2>/dev/null </dev/null | grep -o '[A-Za-z0-9][A-Za-z0-9_.-]*/SKILL[.]md"' | cut -d/ -f1 | sort -u)
}
_hawser_folders() { local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$cur")); }
_hawser_files() { local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$cur")); }
complete -F _hawser hawser
`
}

/** Command prefixes, each preceded by a space. */
function prefixes(entries: readonly Entry[], groups: readonly Group[]): string {
  const names = [...entries, ...groups].map(({ name }) => name).filter((name) => name !== '')
  return [...new Set(names)].map((name) => `' ${name}'`).join('|')
}

function valueCase({ name }: Entry, { names, value }: EntryOption): string[] {
  if (value === undefined) return []
  const at = names.map((option) => `' ${name} ${option}'`).join('|')
  return [`    ${at}) ${action(value)}; return ;;`]
}

function optionsCase({ name, options }: Entry): string {
  const words = options.flatMap(({ names }) => names).join(' ')
  return `      ' ${name}') _hawser_words ${words} ;;`
}

function groupCase({ name, next }: Group): string {
  const words = next.map(({ word }) => word).join(' ')
  return `      '${name === '' ? '' : ` ${name}`}') _hawser_words ${words} ;;`
}

function argumentCase({ name }: Entry, expected: Completable, at: number): string[] {
  return expected.kind === 'text' ? [] : [`    ' ${name} ${at}') ${action(expected)} ;;`]
}

function action(expected: Completable): string {
  switch (expected.kind) {
    case 'words':
      return `_hawser_words ${expected.words.join(' ')}`
    case 'sessions':
    case 'skills':
    case 'folders':
    case 'files':
      return `_hawser_${expected.kind}`
    case 'text':
      return ':'
  }
}
