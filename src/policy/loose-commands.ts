/** A simple command as its text shows it, without quotes; variables and substitutions stay as written. */
export interface LooseCommand {
  readonly words: readonly string[]
  /** Files that it writes by redirection. */
  readonly writes: readonly string[]
  /** What a here-document or here-string passes to it. */
  readonly input?: string
  /** The command whose output it reads. */
  readonly pipeSource?: LooseCommand
}

/**
 * The simple commands of a shell script, also those in subshells, groups, loops and substitutions. Generous where
 * `splitCommand` is strict: it understands most scripts and may be wrong about some. For questions only, never for a
 * permission. Pure.
 */
export function looseCommands(script: string): readonly LooseCommand[] {
  return new LooseReader(script, 0).commands()
}

/** Deeper substitutions are not read. */
const DEEPEST = 8
const KEYWORDS = new Set(
  'if then elif else while until do ! { } time coproc fi done esac'.split(' '),
)
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/
/** Each is handled by `#step`, so that every step gets further. Other blanks belong to words, as for a shell. */
const ENDS_WORD = /[ \t\r\n;&|<>()]/
const REDIRECTION = /^(?:&>>?|\d*(?:<<<|<<-?|<>|<&|>&|>>|>\||[<>]))/

class LooseReader {
  readonly #text: string
  readonly #depth: number
  readonly #commands: LooseCommand[] = []
  #at = 0
  #words: string[] = []
  #writes: string[] = []
  #input: string | undefined
  #pipeSource: LooseCommand | undefined
  /** Here-documents whose text follows the line. */
  #documents: string[] = []

  constructor(text: string, depth: number) {
    this.#text = text
    this.#depth = depth
  }

  commands(): readonly LooseCommand[] {
    while (this.#at < this.#text.length) this.#step()
    this.#end()
    return this.#commands
  }

  #step(): void {
    const rest = this.#text.slice(this.#at, this.#at + 8)
    const sign = rest.charAt(0)
    if (sign === ' ' || sign === '\t' || sign === '\r') this.#at += 1
    else if (sign === '\\' && rest.charAt(1) === '\n') this.#at += 2
    else if (sign === '#') this.#skipLine()
    else if (sign === '\n') this.#newLine()
    else if (/^[<>]\(/.test(rest)) this.#at += 1
    else if (REDIRECTION.test(rest)) this.#redirect(REDIRECTION.exec(rest)?.[0] ?? sign)
    else if (/[;&|()]/.test(sign)) this.#operator(rest)
    else this.#word()
  }

  #operator(rest: string): void {
    const isPipe = rest.startsWith('|') && !rest.startsWith('||')
    const last = this.#end()
    if (isPipe) this.#pipeSource = last
    this.#at += /^(?:&&|\|\||\|&|;;)/.test(rest) ? 2 : 1
  }

  #newLine(): void {
    this.#at += 1
    const documents = this.#documents
    this.#documents = []
    for (const delimiter of documents) {
      const from = this.#at
      let end = this.#text.length
      while (this.#at < this.#text.length) {
        const stop = this.#text.indexOf('\n', this.#at)
        const line = this.#text.slice(this.#at, stop === -1 ? undefined : stop)
        if (line.trim() === delimiter) end = this.#at
        this.#at = stop === -1 ? this.#text.length : stop + 1
        if (end !== this.#text.length) break
      }
      this.#input = this.#text.slice(from, end)
    }
    this.#end()
  }

  #skipLine(): void {
    const end = this.#text.indexOf('\n', this.#at)
    this.#at = end === -1 ? this.#text.length : end
  }

  #redirect(operator: string): void {
    this.#at += operator.length
    while (/[ \t]/.test(this.#text.charAt(this.#at))) this.#at += 1
    const target = this.#read()
    if (operator.endsWith('<<<')) this.#input = target
    else if (/<<-?$/.test(operator)) this.#documents.push(target)
    else if (operator.includes('>')) this.#writes.push(target)
  }

  #word(): void {
    const word = this.#read()
    const isFirst = this.#words.length === 0
    if (isFirst && (KEYWORDS.has(word) || ASSIGNMENT.test(word))) return
    this.#words.push(word)
    // What follows the name of a function is a command of its own.
    if (this.#words.length === 2 && this.#words[0] === 'function') this.#words = []
  }

  #end(): LooseCommand | undefined {
    const input = this.#input === undefined ? {} : { input: this.#input }
    const piped = this.#pipeSource === undefined ? {} : { pipeSource: this.#pipeSource }
    const command = { words: this.#words, writes: this.#writes, ...input, ...piped }
    this.#words = []
    this.#writes = []
    this.#input = undefined
    this.#pipeSource = undefined
    if (command.words.length === 0 && command.writes.length === 0) return undefined
    this.#commands.push(command)
    return command
  }

  /** One word, or nothing before an operator. */
  #read(): string {
    let word = ''
    for (; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text.charAt(this.#at)
      if (ENDS_WORD.test(sign)) break
      if (sign === '\\') {
        const next = this.#text.charAt(++this.#at)
        if (next !== '\n') word += next
      } else if (sign === "'") word += this.#until("'")
      else if (sign === '"') word += this.#double()
      else if (sign === '$' && this.#text.charAt(this.#at + 1) === "'") {
        this.#at += 1
        word += this.#until("'")
      } else if (sign === '$' || sign === '`') word += this.#expansion()
      else word += sign
    }
    return word
  }

  #until(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at + 1)
    const stop = end === -1 ? this.#text.length : end
    const inside = this.#text.slice(this.#at + 1, stop)
    this.#at = stop
    return inside
  }

  #double(): string {
    let inside = ''
    for (this.#at += 1; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text.charAt(this.#at)
      if (sign === '"') break
      if (sign === '\\') {
        const next = this.#text.charAt(++this.#at)
        inside += next === '\n' ? '' : /["$`\\]/.test(next) ? next : `\\${next}`
      } else if (sign === '$' || sign === '`') inside += this.#expansion()
      else inside += sign
    }
    return inside
  }

  /** A variable or substitution as written; ends at its last character. The commands in it are found too. */
  #expansion(): string {
    const from = this.#at
    if (this.#text.charAt(from) === '`') this.#inner(this.#until('`'))
    else if (this.#text.charAt(from + 1) === '(') {
      const end = closing(this.#text, from + 1, '(', ')')
      this.#inner(this.#text.slice(from + 2, end))
      this.#at = end
    } else if (this.#text.charAt(from + 1) === '{') {
      this.#at = closing(this.#text, from + 1, '{', '}')
    }
    return this.#text.slice(from, this.#at + 1)
  }

  #inner(script: string): void {
    if (this.#depth >= DEEPEST) return
    this.#commands.push(...new LooseReader(script, this.#depth + 1).commands())
  }
}

/** The position of the sign that closes the one at `from`, without regard to quotes; the end if none does. */
function closing(text: string, from: number, open: string, close: string): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text.charAt(at) === open) depth += 1
    else if (text.charAt(at) === close && --depth === 0) return at
  }
  return text.length
}
