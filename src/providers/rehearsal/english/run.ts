import { asTyped, literalsIn, type Literal } from './words/literals.ts'
import { looksLikePath } from './words/file-names.ts'
import { phrase } from './words/phrase.ts'
import { takePlace } from './place.ts'
import { see } from './read.ts'
import { NOTHING, type Context, type Reading } from './reading.ts'
import { search } from './search.ts'

/** "… `npm test`", "… the command ls -la", "… this: (a fence)": calls of bash. */
export function run(said: string, context: Context, verb: string): Reading {
  const searched = SEARCHING.exec(said)
  if (searched !== null) return search(`${searched[1] ?? ''} in ${searched[2] ?? ''}`, context)
  if (verb === 'shell' && isFileAlone(said, context)) return see(said, context, 'read')
  const { rest, folder } = takeFolder(said, context)
  const commands = commandsOf(rest, context, SURE.test(verb))
  if (commands.length > 0) return { calls: commands.map((command) => callFor(command, folder)) }
  return SURE.test(verb) && rest.trim() !== '' ? { calls: [], missing: WHICH_COMMAND } : NOTHING
}

const WHICH_COMMAND = 'I do not know which command to run; backticks would tell me.'

/** "Build it with `make`": the command is the means, whatever the verb. */
export function means(said: string): string | undefined {
  return MEANS.exec(said)?.[1] ?? BY_RUNNING.exec(said)?.[1]
}

const MEANS = phrase`
  (?:^|\s)(?:with|using|via|through|by (?:running|executing|calling|typing|using|means of))
  (?: the)?(?: command)? ({CODE})\s*$`
const BY_RUNNING = phrase`(?:^|\s)by (?:running|executing|typing) (?:the command )?(.+)$`
const SEARCHING = phrase`
  ^({DET}(?:regexp?|regular expression|pattern|word|string|term) .+?) (?:to|for|and) (?:search
  |grep|scan|look|searching|go)(?:ing)?(?: through| in| inside| over)? (.+)$`

/** Verbs that are about commands; "use" and "try" are only so before something in backticks. */
const SURE = /^(?:shell|run|execut|exec|launch|invok|fire|kick|issu|perform)/

/** A name in backticks and nothing else is meant to be read. */
function isFileAlone(said: string, context: Context): boolean {
  const [literal] = literalsIn(said, context.literals)
  if (literal === undefined || said.trim().length > 1) return false
  return looksLikePath(literal.text) && !literal.text.includes(' ')
}

function commandsOf(rest: string, context: Context, sure: boolean): string[] {
  const quoted = literalsIn(rest, context.literals).filter(isText)
  const isSaid = sure || quoted.every(({ kind }) => kind !== 'quote')
  if (quoted.length > 0 && isSaid && STARTS_QUOTED.test(rest)) {
    return quoted.map(({ text }) => text.trim())
  }
  return sure ? inWords(rest, context) : []
}

function isText({ kind }: Literal): boolean {
  return kind === 'fence' || kind === 'code' || kind === 'quote'
}

const SHELL = '(?:shell|bash|terminal|command ?line|console)'

/** A quotation is the command only where it stands alone; within words (`echo "a b"`) it is a part of it. */
const STARTS_QUOTED = phrase`
  ^[:,\s]*(?:(?:{POINTER}|me|for|following|simple|commands?|scripts?|programs?|lines?|code|snippet
  |block|called|named|in|on|with|using|from|${SHELL}|and)[:,\s]+)*{TEXT}`

const FOLDER = phrase`^(.*{TEXT})\s+(?:in|inside|within|from|under|at) (.+)$`

/** "… in the build folder" after a quoted command says where. */
function takeFolder(said: string, context: Context): { rest: string; folder: string | undefined } {
  const found = FOLDER.exec(said)
  if (found === null || phrase`^(?:the |a |your )?${SHELL}`.test(found[2] ?? '')) {
    return { rest: said, folder: undefined }
  }
  const { place } = takePlace(`x in ${found[2] ?? ''}`, context)
  return { rest: found[1] ?? '', folder: place.paths[0] }
}

const NAMED = phrase`
  ^(?:{ADET}|following |shell |bash |terminal )*(?:commands?|programs?)(?!\w)(?: called
  | named)?\s*:?\s*(.+)$`
const SCRIPT = phrase`
  ^{DET}(?:shell |bash )?(?:script|program|file)(?: called| named)? ({NAME})(?:\s.*)?$`
const DESCRIBED = phrase`
  ^(?:the|an?|this|that|these|those|my|our|your|it|its|them|some|any|all|every|each|both|me
  |anything|everything|something|nothing|on|in|into|out|through|away|for|to|with|from|as|of|is|are
  |was|has|i|you|we|they|there|well|fine|slow|fast|(?:tests?|commands?|programs?|scripts?|code
  |things|stuff)(?=\s*$)|again)(?!\w)`

/** An unquoted command is the words as typed, unless they describe one instead of being one. */
function inWords(rest: string, context: Context): string[] {
  const [it] = context.it
  const itself = IT_WITH.exec(rest)
  if (itself !== null && it !== undefined) {
    return [itself[1] === undefined ? asScript(it) : `${itself[1]} ${shellWord(it)}`]
  }
  const script = SCRIPT.exec(rest)?.[1]
  if (script !== undefined) return [asScript(asTyped(script, context.literals))]
  const words = (NAMED.exec(rest)?.[1] ?? rest).replace(IN_SHELL, '').replace(BY_SHELL, '')
  return words === '' || DESCRIBED.test(words) ? [] : [asTyped(words, context.literals).trim()]
}

const IN_SHELL = phrase`\s+(?:in|on|with|using|from) (?:the |a |your )?${SHELL}$`
const BY_SHELL = phrase`^[:,\s]*(?:(?:in|on|with|using) (?:the |a |your )?${SHELL}[:,]? )?`
const IT_WITH = phrase`
  ^(?:it|that|that file|this file|the (?:file|script|program))(?: (?:with|using|in|through
  |by) ([\w.-]+))?$`

/** A shell looks for a bare name elsewhere. */
function asScript(path: string): string {
  return path.includes('/') ? shellWord(path) : `./${shellWord(path)}`
}

function shellWord(word: string): string {
  return /^[\w./@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function callFor(command: string, folder: string | undefined) {
  const place = folder === undefined ? '' : `cd ${shellWord(folder)} && `
  return { name: 'bash', arguments: { command: place + command } }
}
