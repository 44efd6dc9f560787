import { sha256 } from '../../../encoding/hash.ts'
import { blocksOf, type Block } from './blocks.ts'
import type { ExportFormat, ExportHeader } from './export-format.ts'
import { markdownHtml } from './html-markdown.ts'
import { diffHtml, escapeHtml, lineHtml, verbatimHtml } from './html-text.ts'
import { titleOf } from './markdown.ts'
import { STYLE } from './style.ts'

/**
 * A self-contained page: no scripts, no external references, and a policy that forbids both. It looks the same from a
 * disk, from a server and in print.
 */
export function htmlExport(): ExportFormat {
  let turns = 0
  const blockText = (block: Block): string => {
    if (block.kind === 'turn') {
      const before = turns === 0 ? '' : '</section>\n'
      turns += 1
      return `${before}<section>\n<h2>Turn ${turns} ${time(block.ts)}</h2>\n`
    }
    if (block.kind === 'note')
      return `<p class="note">${time(block.ts)} ${lineHtml(block.text)}</p>\n`
    const { who, title, ts, text, form, diff, isFolded, notes } = block
    const list = notes.map((note) => `<li>${lineHtml(note)}</li>`).join('')
    return [
      isFolded === true
        ? `<details class="${who}">\n<summary>${lineHtml(title)} ${time(ts)}</summary>\n`
        : `<article class="${who}">\n<h3>${lineHtml(title)} ${time(ts)}</h3>\n`,
      form === 'markdown' ? markdownHtml(text) : verbatimHtml(text),
      diff === undefined ? '' : diffHtml(diff),
      list === '' ? '' : `<ul class="notes">${list}</ul>\n`,
      isFolded === true ? '</details>\n' : '</article>\n',
    ].join('')
  }
  return {
    begin: headerText,
    event: (read, resourceOf) => blocksOf(read, resourceOf).map(blockText).join(''),
    end: (damage) => {
      const ending =
        damage === undefined
          ? ''
          : `<p class="damage"><strong>Incomplete.</strong> ${lineHtml(damage.message)}</p>\n`
      return `${turns === 0 ? '' : '</section>\n'}${ending}</main>\n</body>\n</html>\n`
    },
  }
}

function headerText({ session, version }: ExportHeader): string {
  const { id, state, foreign } = session
  const title = lineHtml(titleOf(state.title))
  const facts = [
    ['Session', `<code>${id}</code>`],
    ['Model', lineHtml(`${state.provider}, ${state.model}`)],
    ['Turns', String(state.turns)],
    ['Last written', state.last_ts === '' ? 'never' : time(state.last_ts)],
    ...(foreign
      ? [
          [
            'Origin',
            'Created on another machine than it was exported on; its content could not be verified there.',
          ],
        ]
      : []),
    ['Exported by', `Hawser ${lineHtml(version)}. Invisible characters are escaped.`],
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>${title}</h1>
<dl>
${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('\n')}
</dl>
</header>
`
}

/** Nothing may be loaded, run, sent or framed; only this style sheet is allowed. */
const STYLE_HASH = Buffer.from(sha256(STYLE), 'hex').toString('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`

function time(ts: string): string {
  const shown = `${ts.slice(0, 'yyyy-mm-dd'.length)} ${ts.slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm:ss'.length)} UTC`
  return `<time datetime="${escapeHtml(ts)}">${escapeHtml(shown)}</time>`
}
