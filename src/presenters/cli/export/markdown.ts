import { visibleLine, visibleText } from '../text/visible-text.ts'
import { blocksOf, type Block } from './blocks.ts'
import type { ExportFormat, ExportHeader } from './export-format.ts'

/**
 * Markdown in which no content can become markup: texts are in fences longer than any run of backticks in them, names
 * in code spans. It references nothing, so no viewer fetches anything.
 */
export function markdownExport(): ExportFormat {
  let turns = 0
  const blockText = (block: Block): string => {
    if (block.kind === 'turn') {
      turns += 1
      return `## Turn ${turns}\n\n${block.ts}\n\n`
    }
    if (block.kind === 'note') return `*${block.ts}:* ${codeSpan(block.text)}\n\n`
    const notes = block.notes.map((note) => `- ${codeSpan(note)}\n`).join('')
    const title = `### ${plain(block.title)}\n\n`
    const language = block.form === 'markdown' ? 'markdown' : 'text'
    const text =
      block.text === '' && block.diff !== undefined ? '' : `${fenced(block.text, language)}\n`
    const diff = block.diff === undefined ? '' : `${fenced(block.diff, 'diff')}\n`
    return `${title}${text}${diff}${notes === '' ? '' : `${notes}\n`}`
  }
  return {
    begin: headerText,
    event: (read, resourceOf) => blocksOf(read, resourceOf).map(blockText).join(''),
    end: (damage) => (damage === undefined ? '' : `**Incomplete.** ${codeSpan(damage.message)}\n`),
  }
}

function headerText({ session, version }: ExportHeader): string {
  const { id, state, foreign } = session
  const facts = [
    `- Session: ${codeSpan(id)}`,
    `- Model: ${codeSpan(`${state.provider}, ${state.model}`)}`,
    `- Turns: ${state.turns}, last written ${state.last_ts === '' ? 'never' : state.last_ts}`,
    ...(foreign
      ? [
          '- Created on another machine than it was exported on; its content could not be verified there.',
        ]
      : []),
    `- Exported by Hawser ${plain(version)}. Invisible characters are escaped.`,
  ]
  return `# ${plain(titleOf(state.title))}\n\n${facts.join('\n')}\n\n`
}

export function titleOf(title: string): string {
  return title === '' ? 'Untitled Session' : title
}

/** Only a fence of at least the same length closes a fence, so no text can close its own. */
function fenced(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  const shown = visibleText(text)
  return `${fence}${language}\n${shown}${shown === '' || shown.endsWith('\n') ? '' : '\n'}${fence}\n`
}

function codeSpan(text: string): string {
  const shown = visibleLine(text)
  const tick = '`'.repeat(longestRun(shown) + 1)
  const pad = /^[` ]|[` ]$/.test(shown) || shown === '' ? ' ' : ''
  return `${tick}${pad}${shown}${pad}${tick}`
}

/** Inline text outside code: everything that Markdown could interpret is escaped, including addresses. */
function plain(text: string): string {
  return visibleLine(text).replaceAll(MARKUP, String.raw`\$&`)
}

const MARKUP = /[\\`*_{}[\]()<>#!|~&@]|:(?=\/)|(?<=www)\./gi

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0)
}
