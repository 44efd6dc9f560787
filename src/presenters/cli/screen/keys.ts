/**
 * Keyboard input. A `press` is named by its chord: `enter`, `ctrl-a`, `alt-left`, `shift-tab`. A `text` is one
 * character; a `paste` is everything that was pasted at once.
 */
export type Key =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string }
  | { readonly kind: 'press'; readonly chord: string }

/**
 * Decodes the bytes of a terminal to keys. The input may be split anywhere, within a character or a sequence, with the
 * same result. Unknown sequences are discarded, never typed.
 */
export class KeyDecoder {
  // A byte order mark would be discarded otherwise.
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  #state: State = 'ground'
  /** The current sequence, without its introducer. */
  #sequence = ''
  /** Characters of a mouse report still to come. */
  #report = 0
  /** The pieces of a paste, which may have megabytes: they are joined once. */
  #pieces: string[] = []
  /** The beginning of a response of the terminal. */
  #response = ''
  readonly #onReport: (text: string) => void
  /** The end of what was pasted so far, in which the end mark may have begun. */
  #tail = ''

  /** `onReport` receives what the terminal responds to a question with OSC, such as `11;rgb:0/0/0`. */
  constructor(onReport: (text: string) => void = () => {}) {
    this.#onReport = onReport
  }

  /** True if the input so far may be a complete key: call `flush` if nothing follows soon. */
  get isUndecided(): boolean {
    return this.#state !== 'ground' && this.#state !== 'paste'
  }

  push(bytes: Uint8Array): Key[] {
    return this.#take(this.#utf8.decode(bytes, { stream: true }))
  }

  /** Nothing followed: a lone escape is the Escape key. */
  flush(): Key[] {
    if (!this.isUndecided) return []
    const keys = this.#state === 'escape' ? [press('escape')] : []
    this.#state = 'ground'
    return keys
  }

  #take(text: string): Key[] {
    const keys: Key[] = []
    let rest = text
    while (rest !== '') {
      if (this.#state === 'paste') rest = this.#paste(rest, keys)
      else {
        const sign = String.fromCodePoint(rest.codePointAt(0) ?? 0)
        rest = rest.slice(sign.length)
        this.#step(sign, keys)
      }
    }
    return keys
  }

  #step(sign: string, keys: Key[]): void {
    switch (this.#state) {
      case 'ground':
        if (sign === ESC) this.#state = 'escape'
        else keys.push(...keyOf(sign))
        return
      case 'escape':
        return this.#afterEscape(sign, keys)
      case 'csi':
        return this.#inSequence(sign, keys)
      case 'ss3':
        this.#state = 'ground'
        if (sign === ESC) this.#state = 'escape'
        else keys.push(...chordOf(PAD_LETTERS[sign], ''))
        return
      case 'console':
        // Function keys of the Linux console: one more letter belongs to the sequence.
        this.#state = 'ground'
        return
      case 'mouse':
        this.#report -= 1
        if (this.#report === 0) this.#state = 'ground'
        return
      case 'string':
        // A response of the terminal; it ends with a bell, or with an escape and a backslash, which is not a key then.
        if (sign === BELL || (sign === '\\' && this.#sequence === ESC)) {
          this.#state = 'ground'
          if (this.#response.startsWith(']')) this.#onReport(this.#response.slice(1))
        } else if (sign !== ESC && this.#response.length < LONGEST_RESPONSE) this.#response += sign
        this.#sequence = sign
        return
      case 'paste':
        return
    }
  }

  #afterEscape(sign: string, keys: Key[]): void {
    if (sign === ESC) {
      keys.push(press('escape'))
      return
    }
    this.#sequence = ''
    this.#response = sign
    this.#state = INTRODUCERS[sign] ?? 'ground'
    if (this.#state === 'ground') keys.push(...keyOf(sign).map(withAlt))
  }

  #inSequence(sign: string, keys: Key[]): void {
    if (sign === ESC) {
      this.#state = 'escape'
      return
    }
    if (sign === '[' && this.#sequence === '') {
      this.#state = 'console'
      return
    }
    if (/^[\x20-\x3f]$/.test(sign) && this.#sequence.length < LONGEST_SEQUENCE) {
      this.#sequence += sign
      return
    }
    this.#state = 'ground'
    if (this.#sequence === '200' && sign === '~') {
      this.#state = 'paste'
      this.#pieces = []
      this.#tail = ''
    } else if (this.#sequence === '' && sign === 'M') {
      this.#state = 'mouse'
      this.#report = 3
    } else keys.push(...sequenceKey(this.#sequence, sign))
  }

  /** Returns the text after the paste. */
  #paste(text: string, keys: Key[]): string {
    const known = this.#tail.length
    const near = this.#tail + text
    const end = near.indexOf(PASTE_END)
    if (end === -1) {
      this.#pieces.push(text)
      this.#tail = near.slice(1 - PASTE_END.length)
      return ''
    }
    const whole = this.#pieces.join('') + text
    const length = whole.length - near.length + end
    keys.push({ kind: 'paste', text: whole.slice(0, length).replaceAll(/\r\n?/g, '\n') })
    this.#state = 'ground'
    this.#pieces = []
    this.#tail = ''
    return text.slice(end + PASTE_END.length - known)
  }
}

type State = 'ground' | 'escape' | 'csi' | 'ss3' | 'console' | 'mouse' | 'string' | 'paste'

const ESC = '\x1b'
const BELL = '\x07'
const PASTE_END = '\x1b[201~'
const LONGEST_SEQUENCE = 32
const LONGEST_RESPONSE = 64

/** The sequence that an escape introduces, by the next character. */
const INTRODUCERS: Readonly<Record<string, State>> = {
  '[': 'csi',
  O: 'ss3',
  ']': 'string',
  P: 'string',
  X: 'string',
  '^': 'string',
  _: 'string',
}

/** Final letters of sequences. */
const LETTERS: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  Z: 'shift-tab',
}

/** Of the numeric keypad; after `[` the same letter ends a mouse report. */
const PAD_LETTERS: Readonly<Record<string, string>> = { ...LETTERS, M: 'enter' }

/** First parameters of sequences that end with a tilde. */
const NUMBERS: Readonly<Record<string, string>> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'page-up',
  6: 'page-down',
  7: 'home',
  8: 'end',
}

/** Keys that are encoded as a code point, in both encodings that terminals use. */
const NAMED_CHARACTERS: Readonly<Record<string, string>> = {
  9: 'tab',
  13: 'enter',
  27: 'escape',
  127: 'backspace',
}

const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\x7f': 'backspace',
}

function keyOf(sign: string): Key[] {
  const named = CONTROLS[sign]
  if (named !== undefined) return [press(named)]
  const code = sign.codePointAt(0) ?? 0
  // Letters in lower case, and the signs after them: `ctrl-_`.
  if (code < 0x20) return [press(`ctrl-${String.fromCharCode(code + (code > 0x1a ? 0x40 : 0x60))}`)]
  // C1 controls are not keys.
  if (code >= 0x80 && code < 0xa0) return []
  return [{ kind: 'text', text: sign }]
}

function sequenceKey(parameters: string, last: string): Key[] {
  // Private parameters mark reports of the terminal.
  if (/^[<=>?]/.test(parameters)) return []
  const [first = '', modifiers = '', third = ''] = parameters.split(';')
  // A key release.
  if (modifiers.endsWith(':3')) return []
  if (last === 'u') return chordOf(NAMED_CHARACTERS[first], modifiers)
  if (last !== '~') return chordOf(LETTERS[last], modifiers)
  if (first === '27') return chordOf(NAMED_CHARACTERS[third], modifiers)
  return chordOf(NUMBERS[first], modifiers)
}

/** The modifiers parameter is one more than the sum of shift 1, alt 2 and ctrl 4. */
function chordOf(name: string | undefined, modifiers: string): Key[] {
  if (name === undefined) return []
  const sum = Math.max(0, (Number.parseInt(modifiers, 10) || 1) - 1)
  const prefix = [sum & 4 ? 'ctrl-' : '', sum & 2 ? 'alt-' : '', sum & 1 ? 'shift-' : ''].join('')
  return [press(prefix + name)]
}

function withAlt(key: Key): Key {
  return press(`alt-${key.kind === 'press' ? key.chord : key.text.toLowerCase()}`)
}

function press(chord: string): Key {
  return { kind: 'press', chord }
}
