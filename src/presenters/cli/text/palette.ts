import type { Theme } from '../../../model/settings.ts'
import { sgr, type Colour, type Palette } from './cell-width.ts'

export type Background = 'dark' | 'light'

/** What a terminal can show. */
export interface TerminalColours {
  /** It has the 256 colours of xterm; otherwise the 16 of every terminal. */
  readonly many: boolean
  readonly links: boolean
  /** It answers when it is asked for its background (OSC 11), or ignores that. */
  readonly reports: boolean
  /** As far as the environment says. */
  readonly background: Background | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** What the environment says about the terminal. Pure. */
export function terminalColours(env: Environment): TerminalColours {
  const { TERM = '', COLORTERM = '' } = env
  return {
    many: /256|direct|kitty|ghostty|alacritty|foot/.test(TERM) || /truecolor|24bit/.test(COLORTERM),
    links: opensLinks(env),
    reports: !/^(?:|dumb|linux)$/.test(TERM),
    background: backgroundIn(env['COLORFGBG']),
  }
}

/** The colours of a theme on a terminal, whose background may be known better than from its environment. Pure. */
export function paletteOf(
  theme: Theme,
  { many, links, background }: TerminalColours,
  known: Background = background ?? 'dark',
): Palette {
  const dark = many ? DARK_256 : DARK_16
  const light = many ? LIGHT_256 : LIGHT_16
  const matching = known === 'light' ? light : dark
  switch (theme) {
    case 'auto':
      return { ...matching, links }
    case 'dark':
      return { ...dark, links }
    case 'light':
      return { ...light, links }
    case 'high-contrast':
      return { ...(known === 'light' ? STRONG_LIGHT : STRONG_DARK), links }
    case 'none':
      return { ...COLOURLESS, links }
  }
}

/** The background that a terminal reports after OSC 11, such as `rgb:ffff/ffff/ffff`. Pure. */
export function backgroundOf(report: string): Background | undefined {
  const found = /rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i.exec(report)
  if (found === null) return undefined
  const [red = 0, green = 0, blue = 0] = found
    .slice(1, 4)
    .map((digits) => Number.parseInt(digits, 16) / (16 ** digits.length - 1))
  // The brightness that people see (Rec. 709).
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.5 ? 'light' : 'dark'
}

/** The foreground and the background by their numbers, such as `15;0`. */
function backgroundIn(colours = ''): Background | undefined {
  const number = /;(\d{1,3})$/.exec(colours)?.[1]
  if (number === undefined) return undefined
  return number === '7' || Number(number) > 8 ? 'light' : 'dark'
}

/** Terminals that show an address only as a link, or nothing of it; others would show the sequence. */
function opensLinks(env: Environment): boolean {
  const { TERM = '', TERM_PROGRAM = '', TERM_PROGRAM_VERSION = '', VTE_VERSION = '' } = env
  if (TERM_PROGRAM === 'tmux') return Number.parseFloat(TERM_PROGRAM_VERSION) >= 3.4
  return (
    /^(?:xterm-kitty|xterm-ghostty|foot|alacritty|wezterm)/.test(TERM) ||
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|rio|WarpTerminal)$/.test(TERM_PROGRAM) ||
    Number(VTE_VERSION) >= 5000 ||
    env['WT_SESSION'] !== undefined ||
    env['KONSOLE_VERSION'] !== undefined
  )
}

type Own = Omit<Palette, 'links'>

function own(
  [red, green, yellow, blue, magenta, cyan]: readonly [
    string,
    string,
    string,
    string,
    string,
    string,
  ],
  [added, removed]: readonly [string, string],
): Own {
  const colours: Readonly<Record<Colour, string>> = { red, green, yellow, blue, magenta, cyan }
  return { codes: (style) => sgr(style, colours, { added, removed }) }
}

const INVERSE = ['7', '7'] as const
/** The dark blue of many terminals is hard to read on black. */
const DARK_COLOURS = ['31', '32', '33', '94', '35', '36'] as const
const DARK_16 = own(DARK_COLOURS, INVERSE)
const DARK_256 = own(DARK_COLOURS, ['48;5;22', '48;5;52'])
/** Yellow and cyan are hard to read on white. */
const LIGHT_16 = own(['31', '32', '35', '34', '35', '34'], INVERSE)
const LIGHT_256 = own(
  ['38;5;124', '38;5;28', '38;5;130', '38;5;25', '38;5;90', '38;5;30'],
  ['48;5;194', '48;5;224'],
)
const STRONG_DARK = strong(own(['1;91', '1;92', '1;93', '1;96', '1;95', '1;96'], INVERSE))
const STRONG_LIGHT = strong(own(['1;31', '1;32', '1;35', '1;34', '1;35', '1;34'], INVERSE))
const COLOURLESS = own(['', '', '', '', '', ''], INVERSE)

/** Nothing is dim. */
function strong({ codes }: Own): Own {
  return { codes: (style) => codes({ ...style, dim: false }) }
}
