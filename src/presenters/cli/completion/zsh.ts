import {
  longName,
  PROGRAM_OPTIONS,
  valueOptions,
  type Entry,
  type EntryOption,
  type Completable,
  type Group,
} from './vocabulary.ts'

/** A completion function for zsh: source it after `compinit`, or save it in a folder of `fpath` as `_hawser`. */
export function zshScript(entries: readonly Entry[], groups: readonly Group[]): string {
  return `#compdef hawser
# Completes commands of hawser in zsh. Usage, after compinit: source <(hawser completions zsh)
_hawser() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]}
  local command='' skip='' word
  local -i at=0 i
  local -a list
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      (${valueOptions(entries)}) skip=1; continue ;;
      (-*) continue ;;
    esac
    case "$command $word" in
      (${prefixes(entries, groups)}) command="$command $word" ;;
      (*) at=$((at + 1)) ;;
    esac
  done
  case "$command $prev" in
${entries.flatMap((entry) => entry.options.flatMap((option) => valueCase(entry, option))).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
${entries.map(optionsCase).join('\n')}
      (*) list=(${PROGRAM_OPTIONS.map((one) => describeWord(longName(one), one.help)).join(' ')}) ;;
    esac
    _describe -o 'option' list
    return
  fi
  if ((at == 0)); then
    case $command in
${groups.map(groupCase).join('\n')}
    esac
    ((\${#list})) && _describe 'command' list
  fi
  case "$command $at" in
${entries.flatMap((entry) => entry.args.flatMap((arg, at) => argumentCase(entry, arg, at))).join('\n')}
  esac
}
_hawser_sessions() {
  compadd -- latest \${(uf)"$(\${words[1]} sessions --json 2>/dev/null </dev/null | grep -o 'ses_[0-9a-z]\\{26\\}')"}
}
_hawser_skills() {
  compadd -- \${(uf)"$(\${words[1]} skills --json 2>/dev/null </dev/null | grep -o '[A-Za-z0-9][A-Za-z0-9_.-]*/SKILL[.]md"' | cut -d/ -f1)"}
}
if [[ \${funcstack[1]} == _hawser ]]; then
  _hawser "$@"
else
  compdef _hawser hawser
fi
`
}

function prefixes(entries: readonly Entry[], groups: readonly Group[]): string {
  const names = [...entries, ...groups].map(({ name }) => name).filter((name) => name !== '')
  return [...new Set(names)].map((name) => quoteWord(` ${name}`)).join('|')
}

function valueCase({ name }: Entry, { names, value }: EntryOption): string[] {
  if (value === undefined) return []
  const at = names.map((option) => quoteWord(` ${name} ${option}`)).join('|')
  return [`    (${at}) ${action(value)}; return ;;`]
}

function optionsCase({ name, options }: Entry): string {
  const list = options.flatMap(({ names, help }) => names.map((one) => describeWord(one, help)))
  return `      (${quoteWord(` ${name}`)}) list=(${list.join(' ')}) ;;`
}

function groupCase({ name, next }: Group): string {
  const list = next.map(({ word, summary }) => describeWord(word, summary))
  return `      (${quoteWord(name === '' ? '' : ` ${name}`)}) list=(${list.join(' ')}) ;;`
}

function argumentCase({ name }: Entry, expected: Completable, at: number): string[] {
  if (expected.kind === 'text') return []
  return [`    (${quoteWord(` ${name} ${at}`)}) ${action(expected)} ;;`]
}

function action(expected: Completable): string {
  switch (expected.kind) {
    case 'words':
      return `compadd -- ${expected.words.join(' ')}`
    case 'sessions':
    case 'skills':
      return `_hawser_${expected.kind}`
    case 'folders':
      return '_files -/'
    case 'files':
      return '_files'
    case 'text':
      return ':'
  }
}

/** In the format of `_describe`, in which a colon ends the word. */
function describeWord(word: string, help: string): string {
  return quoteWord(`${word.replaceAll(':', String.raw`\:`)}:${help}`)
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
