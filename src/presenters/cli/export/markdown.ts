import { blocksOf, type Block } from './blocks.ts'
import type { ExportFormat, ExportHeader } from './export-format.ts'
import { codeSpan, escapedLine, codeBlock } from './markdown-text.ts'
import { safeMarkdown } from './safe-markdown.ts'

/**
 * Markdown. What people and models wrote keeps its formatting, without links, images and HTML; other texts are in fences longer
 * than any run of backticks in them, names in code spans. It references nothing, so no viewer fetches anything.
 */
export function markdownExport(): ExportFormat {
  let turns = 0
  const blockText = (block: Block): string => {
    if (block.kind === 'turn') {
      turns += 1
      return `## Turn ${turns}\n\n${block.ts}\n\n`
    }
    if (block.kind === 'note') return `*${block.ts}:* ${codeSpan(block.text)}\n\n`
    // Another mark than in the text, whose last list they would continue.
    const notes = block.notes.map((note) => `* ${codeSpan(note)}\n`).join('')
    const title = `### ${escapedLine(block.title)}\n\n`
    const text = bodyText(block)
    const diff = block.diff === undefined ? '' : `${codeBlock(block.diff, 'diff')}\n`
    const whole = `${text}${diff}${notes === '' ? '' : `${notes}\n`}`
    if (block.isFolded !== true) return `${title}${whole}`
    return `<details>\n<summary>${escapedLine(block.title)}</summary>\n\n${whole}</details>\n\n`
  }
  return {
    begin: headerText,
    event: (read, resourceOf) => blocksOf(read, resourceOf).map(blockText).join(''),
    end: (damage) => (damage === undefined ? '' : `**Incomplete.** ${codeSpan(damage.message)}\n`),
  }
}

function bodyText({ text, form, diff }: Extract<Block, { readonly kind: 'text' }>): string {
  if (text === '' && diff !== undefined) return ''
  return `${form === 'markdown' ? safeMarkdown(text) : codeBlock(text, 'text')}\n`
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
    `- Exported by Hawser ${escapedLine(version)}. Invisible characters are escaped.`,
  ]
  return `# ${escapedLine(titleOf(state.title))}\n\n${facts.join('\n')}\n\n`
}

export function titleOf(title: string): string {
  return title === '' ? 'Untitled Session' : title
}
