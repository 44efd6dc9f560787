import { memo, type ReactNode } from 'react'
import {
  shownAddress,
  type MarkdownBlock,
  type MarkdownSpan,
} from '../../../src/encoding/markdown/tree.ts'
import { markdownBlocks } from '../../../src/encoding/markdown/whole-text.ts'
import { CodeBlock } from './code-block.tsx'
import { isSafeLink, visible } from './text.ts'

/** Longer answers are shown as plain text: the lexer would hold up the page. */
const LONGEST = 1_000_000

/** Markdown as elements. HTML in it is text, and nothing is loaded. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  if (text.length > LONGEST) return <CodeBlock text={visible(text)} language="" />
  return <div className="markdown">{blocks(markdownBlocks(text, visible))}</div>
})

function blocks(all: readonly MarkdownBlock[]): ReactNode[] {
  return all.map((block, at) => <Block key={at} block={block} />)
}

/** Neighbours keep their place while text is added at the end, so only the last one is drawn again. */
const Block = memo(
  function Block({ block }: { readonly block: MarkdownBlock }): ReactNode {
    switch (block.kind) {
      case 'heading': {
        const Tag = HEADINGS[Math.min(block.depth, 6) - 1] ?? 'h6'
        return <Tag dir="auto">{spans(block.content)}</Tag>
      }
      case 'paragraph':
        return <p dir="auto">{spans(block.content)}</p>
      case 'text':
        return <span dir="auto">{spans(block.content)}</span>
      case 'code':
        return <CodeBlock text={block.text} language={block.info.split(/\s/)[0] ?? ''} />
      case 'quote':
        return <blockquote dir="auto">{blocks(block.blocks)}</blockquote>
      case 'list':
        return block.start === undefined ? (
          <ul dir="auto">{block.items.map(item)}</ul>
        ) : (
          <ol dir="auto" start={block.start}>
            {block.items.map(item)}
          </ol>
        )
      case 'table':
        return (
          <div className="table" tabIndex={0} role="region" aria-label="Table">
            <table>
              <thead>
                <tr>
                  {block.header.map((cell, at) => (
                    <th key={at} dir="auto">
                      {spans(cell)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {block.rows.map((row, line) => (
                  <tr key={line}>
                    {row.map((cell, at) => (
                      <td key={at} dir="auto">
                        {spans(cell)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      case 'rule':
        return <hr />
      case 'verbatim':
        return (
          <p className="verbatim" dir="auto">
            {block.text}
          </p>
        )
      default:
        return block satisfies never
    }
  },
  (one, other) => JSON.stringify(one.block) === JSON.stringify(other.block),
)

// The page has h1 and h2 of its own.
const HEADINGS = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const

function item(
  { done, blocks: inside }: Extract<MarkdownBlock, { kind: 'list' }>['items'][number],
  at: number,
) {
  return (
    <li key={at} className={done === undefined ? undefined : 'task'}>
      {done !== undefined && (
        <span aria-label={done ? 'done' : 'not done'}>{done ? '☑ ' : '☐ '}</span>
      )}
      {blocks(inside)}
    </li>
  )
}

function spans(all: readonly MarkdownSpan[]): ReactNode[] {
  return all.map((one, at) => <Span key={at} span={one} />)
}

function Span({ span }: { readonly span: MarkdownSpan }): ReactNode {
  switch (span.kind) {
    case 'text':
      return span.text
    case 'code':
      return <code dir="ltr">{span.text}</code>
    case 'strong':
      return <strong>{spans(span.content)}</strong>
    case 'em':
      return <em>{spans(span.content)}</em>
    case 'del':
      return <del>{spans(span.content)}</del>
    case 'break':
      return <br />
    case 'link': {
      const address = shownAddress(span)
      const shown =
        address === undefined ? null : <span className="address"> ({visible(address)})</span>
      if (!isSafeLink(span.href))
        return (
          <>
            {spans(span.content)}
            {shown}
          </>
        )
      return (
        <>
          <a href={span.href} target="_blank" rel="noopener noreferrer nofollow">
            {spans(span.content)}
          </a>
          {shown}
        </>
      )
    }
    case 'image':
      // Never loaded: its address could tell a stranger that it was read.
      return (
        <span className="address">
          [image: {span.description} {visible(span.href)}]
        </span>
      )
    default:
      return span satisfies never
  }
}
