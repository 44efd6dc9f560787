import { visibleLine, visibleText } from '../text/visible-text.ts'

/** Text on one line. */
export function lineHtml(text: string): string {
  return escapeHtml(visibleLine(text))
}

/** Verbatim text in a block that can be scrolled with the keyboard. */
export function verbatimHtml(text: string): string {
  // A browser ignores the first newline.
  return text === '' ? '' : `<pre tabindex="0">\n${escapeHtml(visibleText(text))}</pre>\n`
}

/** A unified diff: runs of lines of the same kind, each in a block of its own. */
export function diffHtml(diff: string): string {
  const runs: { readonly kind: string; text: string }[] = []
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const kind = lineKind(line)
    const last = runs.at(-1)
    if (last?.kind === kind) last.text += `${line}\n`
    else runs.push({ kind, text: `${line}\n` })
  }
  const blocks = runs.map(
    ({ kind, text }) => `<pre class="${kind}">\n${escapeHtml(visibleText(text))}</pre>`,
  )
  return `<div class="diff" tabindex="0">\n${blocks.join('\n')}\n</div>\n`
}

function lineKind(line: string): string {
  if (/^(?:---|\+\+\+) /.test(line)) return 'file'
  if (line.startsWith('@@')) return 'place'
  if (line.startsWith('+')) return 'added'
  return line.startsWith('-') ? 'removed' : 'same'
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
