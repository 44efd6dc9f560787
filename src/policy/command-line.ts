/** One word of a command. `isFixed`: the program gets exactly `text`; otherwise the shell expands it. */
export interface Word {
  readonly text: string
  readonly isFixed: boolean
}

/** A simple command: the text between `&&`, `||`, `|`, `;`, `&` and line ends. */
export interface CommandPart {
  /** As written, without surrounding blanks. */
  readonly text: string
  readonly words: readonly Word[]
  /** Starts with `NAME=value`. */
  readonly assigns: boolean
  readonly redirects: boolean
}

/**
 * Splits a `bash -c` script into simple commands. Conservative: `undefined` for anything it does not fully understand, such
 * as substitutions, variables, subshells, groups, keywords, functions, here-documents and invisible characters. Pure.
 */
export function splitCommand(command: string): readonly CommandPart[] | undefined {
  if (INVISIBLE.test(command)) return undefined
  try {
    return new Splitter(command).parts()
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined
    throw error
  }
}

/**
 * Control and format characters, and blanks that a shell and a person may interpret differently; not tab, line end and
 * space.
 */
const INVISIBLE = /(?![\t\n ])[\p{Cc}\p{Cf}\p{Z}\p{Cs}\p{Co}\p{Cn}]/u

/** Bash keywords that change the meaning of the words after them, except `time`, which is also a program that starts others. */
const KEYWORDS = new Set(
  '! { } [[ ]] if then elif else fi case esac for select while until do done in function coproc'.split(
    ' ',
  ),
)
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/
const META = /[\s|&;<>()]/
const OPERATOR = /^(?:&&|\|\||\|&|;;|;&|&>>|&>|<<<|<<|<>|<&|>&|>>|>\||[|&;<>()])/

class NotUnderstood extends Error {}

class Splitter {
  readonly #text: string
  #at = 0
  #parts: CommandPart[] = []
  #open: OpenPart

  constructor(text: string) {
    this.#text = text
    this.#open = newPart()
  }

  parts(): readonly CommandPart[] {
    // After `&&`, `||` and `|` another command has to follow.
    let needsMore = false
    while ((this.#skipBlanks(), this.#at < this.#text.length)) {
      const sign = this.#text.charAt(this.#at)
      if (sign === '\n') {
        if (!isEmpty(this.#open)) {
          this.#close()
          needsMore = false
        }
        this.#at += 1
        continue
      }
      const operator = OPERATOR.exec(this.#text.slice(this.#at, this.#at + 3))?.[0]
      if (operator === undefined) this.#word()
      else if (REDIRECTIONS.has(operator)) this.#redirect(operator)
      else if (SEPARATORS.has(operator)) {
        this.#close()
        needsMore = operator !== ';' && operator !== '&'
        this.#at += operator.length
      } else throw new NotUnderstood()
    }
    if (!isEmpty(this.#open)) this.#close()
    else if (needsMore) throw new NotUnderstood()
    if (this.#parts.length === 0) throw new NotUnderstood()
    return this.#parts
  }

  #skipBlanks(): void {
    for (;;) {
      const sign = this.#text.charAt(this.#at)
      if (sign === ' ' || sign === '\t') this.#at += 1
      else if (sign === '\\' && this.#text.charAt(this.#at + 1) === '\n') this.#at += 2
      else if (sign === '#') {
        const end = this.#text.indexOf('\n', this.#at)
        this.#at = end === -1 ? this.#text.length : end
      } else return
    }
  }

  #close(): void {
    if (isEmpty(this.#open)) throw new NotUnderstood()
    const { from, to, words, assigns, redirects } = this.#open
    this.#parts.push({ text: this.#text.slice(from, to), words, assigns, redirects })
    this.#open = newPart()
  }

  #word(): void {
    const from = this.#at
    const { text, isFixed, bare } = this.#read()
    const next = this.#text.charAt(this.#at)
    if (bare === text && /^\d+$/.test(text) && (next === '<' || next === '>')) {
      // A descriptor number belongs to its redirection.
      this.#extend(from)
      return
    }
    this.#extend(from)
    if (this.#open.words.length === 0) {
      if (ASSIGNMENT.test(bare)) {
        this.#open.assigns = true
        return
      }
      if (bare === text && KEYWORDS.has(text)) throw new NotUnderstood()
    }
    this.#open.words.push({ text, isFixed })
  }

  #redirect(operator: string): void {
    this.#extend(this.#at)
    this.#at += operator.length
    this.#skipBlanks()
    const sign = this.#text.charAt(this.#at)
    if (sign === '' || META.test(sign)) throw new NotUnderstood()
    this.#read()
    this.#open.redirects = true
    this.#open.to = this.#at
  }

  #extend(from: number): void {
    if (this.#open.from === UNSET) this.#open.from = from
    this.#open.to = this.#at
  }

  /** One word. `bare`: its start, up to the first quote. */
  #read(): { readonly text: string; readonly isFixed: boolean; readonly bare: string } {
    let text = ''
    let isFixed = true
    let bare: string | undefined
    const quote = () => {
      bare ??= text
    }
    for (; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text.charAt(this.#at)
      if (META.test(sign)) break
      if (sign === '$' || sign === '`') throw new NotUnderstood()
      if (sign === '\\') {
        const next = this.#text.charAt(++this.#at)
        if (next === '') throw new NotUnderstood()
        if (next === '\n') continue
        quote()
        text += next
      } else if (sign === "'") {
        quote()
        text += this.#single()
      } else if (sign === '"') {
        quote()
        text += this.#double()
      } else {
        if (sign === '{' && this.#text.charAt(this.#at + 1) === '}') {
          // Bash leaves an empty pair of braces as it is.
          this.#at += 1
          text += '{}'
          continue
        }
        if (/[*?[\]{}]/.test(sign)) isFixed = false
        if (sign === '~' && (text === '' || /[=:]$/.test(text))) isFixed = false
        text += sign
      }
    }
    return { text, isFixed, bare: bare ?? text }
  }

  #single(): string {
    const end = this.#text.indexOf("'", this.#at + 1)
    if (end === -1) throw new NotUnderstood()
    const inside = this.#text.slice(this.#at + 1, end)
    this.#at = end
    return inside
  }

  #double(): string {
    let inside = ''
    for (this.#at += 1; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text.charAt(this.#at)
      if (sign === '"') return inside
      if (sign === '$' || sign === '`') throw new NotUnderstood()
      if (sign !== '\\') {
        inside += sign
        continue
      }
      const next = this.#text.charAt(++this.#at)
      if (next === '\n') continue
      inside += /["$`\\]/.test(next) ? next : `\\${next}`
    }
    throw new NotUnderstood()
  }
}

const SEPARATORS = new Set(['&&', '||', '|', '|&', ';', '&'])
/** Excludes here-documents: their lines would be parsed as commands. */
const REDIRECTIONS = new Set(['<', '>', '<>', '<&', '>&', '>>', '>|', '&>', '&>>', '<<<'])

interface OpenPart {
  from: number
  to: number
  readonly words: Word[]
  assigns: boolean
  redirects: boolean
}

const UNSET = -1

function newPart(): OpenPart {
  return { from: UNSET, to: UNSET, words: [], assigns: false, redirects: false }
}

function isEmpty({ words, assigns, redirects }: OpenPart): boolean {
  return words.length === 0 && !assigns && !redirects
}
