import type { Theme } from '../../../model/settings.ts'
import type { Palette } from '../text/cell-width.ts'
import { backgroundOf, paletteOf, type Background, type TerminalColours } from '../text/palette.ts'

interface ColourParts {
  readonly colour: boolean
  readonly theme?: Theme | undefined
  readonly terminal?: TerminalColours | undefined
}

/** The theme of a chat, and the palette that follows from it and from the background of the terminal. */
export class ChatColours {
  readonly #isColoured: boolean
  readonly #terminal: TerminalColours
  readonly #onChange: (palette: Palette | false) => void
  #theme: Theme
  #background: Background | undefined

  /** `onChange`: the palette is a different one. */
  constructor(
    { colour, theme = 'auto', terminal = NOT_KNOWN }: ColourParts,
    onChange: (palette: Palette | false) => void,
  ) {
    this.#isColoured = colour
    this.#terminal = terminal
    this.#theme = theme
    this.#onChange = onChange
  }

  get theme(): Theme {
    return this.#theme
  }

  get palette(): Palette | false {
    return this.#isColoured && paletteOf(this.#theme, this.#terminal, this.#background)
  }

  /** The palette depends on a background that the environment does not tell. */
  get asksBackground(): boolean {
    return this.#isColoured && this.#terminal.reports && this.#terminal.background === undefined
  }

  show(theme: Theme): void {
    if (theme === this.#theme) return
    this.#theme = theme
    this.#onChange(this.palette)
  }

  /** Takes what the terminal reports; anything but its background is ignored. */
  readonly takeReport = (text: string): void => {
    const background = text.startsWith('11;') ? backgroundOf(text) : undefined
    if (background === undefined || background === this.#background) return
    this.#background = background
    this.#onChange(this.palette)
  }
}

const NOT_KNOWN: TerminalColours = {
  many: false,
  links: false,
  reports: false,
  background: undefined,
}
