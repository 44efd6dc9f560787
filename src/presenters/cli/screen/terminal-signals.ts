import { visibleLine } from '../text/visible-text.ts'

/** How a chat attracts attention outside of its screen, and whether it moves. */
export interface TerminalSignals {
  readonly bell: boolean
  /** The sequence for a notification on the desktop; terminals know one or the other. */
  readonly notification: 'osc9' | 'osc777' | 'none'
  readonly title: boolean
  /** Nothing moves by itself: no spinner, no elapsed time. */
  readonly isStill: boolean
  /** Only what stays is shown, the question and the input. */
  readonly isPlain: boolean
  /** The sequences pass through tmux. */
  readonly tmux: boolean
}

interface SignalSettings {
  readonly bell?: boolean | undefined
  readonly notify?: boolean | undefined
  readonly title?: boolean | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** What this terminal supports and the person wants. Pure. */
export function terminalSignals(
  env: Environment,
  settings: SignalSettings = {},
  isPlain = false,
): TerminalSignals {
  const { bell = true, notify = true, title = true } = settings
  const { TERM = '', VTE_VERSION, TMUX } = env
  const isPoor = TERM === 'dumb' || TERM === 'linux'
  const knows777 = VTE_VERSION !== undefined || /^(foot|rxvt)/.test(TERM)
  return {
    bell,
    notification: !notify || isPoor || isPlain ? 'none' : knows777 ? 'osc777' : 'osc9',
    title: title && !isPoor && !isPlain,
    isStill: TERM === 'dumb' || isPlain,
    isPlain,
    tmux: TMUX !== undefined && TMUX !== '',
  }
}

/** The bytes that attract attention with a text: a bell, and a notification of the desktop. Pure. */
export function attentionBytes(signals: TerminalSignals, text: string): string {
  return (signals.bell ? BELL : '') + notificationBytes(signals, plain(text))
}

/** The bytes that set the title of the window. Pure. */
export function titleBytes(text: string): string {
  return `${OSC}2;${plain(text)}${BELL}`
}

/** The bytes that put a text on the clipboard of the terminal, also a remote one. Pure. */
export function clipboardBytes(text: string): string {
  return `${OSC}52;c;${Buffer.from(text).toString('base64')}${BELL}`
}

/** The terminal reports its background: `11;rgb:…`. */
export const ASK_BACKGROUND = '\u001b]11;?\u001b\\'

/** The terminal keeps its title, and gives it back. */
export const SAVE_TITLE = '\u001b[22;2t'
export const RESTORE_TITLE = '\u001b[23;2t'

const OSC = '\u001b]'
const BELL = '\u0007'
const LONGEST = 120

function notificationBytes({ notification, tmux }: TerminalSignals, text: string): string {
  if (notification === 'none') return ''
  const body = notification === 'osc9' ? `9;${text}` : `777;notify;hawser;${text}`
  const bytes = `${OSC}${body}${BELL}`
  return tmux ? `\u001bPtmux;${bytes.replaceAll('\u001b', '\u001b\u001b')}\u001b\\` : bytes
}

/** A text that ends no sequence: without controls, and in the 777 form without its separator. */
function plain(text: string): string {
  return visibleLine(text).replaceAll(';', ',').slice(0, LONGEST)
}
