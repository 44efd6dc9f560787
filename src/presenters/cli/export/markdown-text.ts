import { visibleLine, visibleText } from '../text/visible-text.ts'

/** A block of code. Only a fence of at least the same length closes a fence, so no text can close its own. */
export function codeBlock(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  const shown = visibleText(text)
  return `${fence}${language}\n${shown}${shown === '' || shown.endsWith('\n') ? '' : '\n'}${fence}\n`
}

export function codeSpan(text: string): string {
  const shown = visibleLine(text)
  const tick = '`'.repeat(longestRun(shown) + 1)
  const pad = /^[` ]|[` ]$/.test(shown) || shown === '' ? ' ' : ''
  return `${tick}${pad}${shown}${pad}${tick}`
}

/** Text outside code: everything that Markdown could interpret within a line is escaped, including addresses. */
export function escapedText(text: string): string {
  return visibleText(text).replaceAll(MARKUP, String.raw`\$&`)
}

/** The same on one line. */
export function escapedLine(text: string): string {
  return visibleLine(text).replaceAll(MARKUP, String.raw`\$&`)
}

const MARKUP = /[\\`*_{}[\]()<>#!|~&@]|:(?=\/)|(?<=www)\./gi

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0)
}
