import highlighter from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import go from 'highlight.js/lib/languages/go'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import type { ReactNode } from 'react'

const LANGUAGES = { bash, css, go, json, markdown, python, rust, sql, typescript, xml, yaml }
for (const [name, language] of Object.entries(LANGUAGES))
  highlighter.registerLanguage(name, language)
highlighter.registerAliases(['ts', 'tsx', 'js', 'jsx', 'javascript'], {
  languageName: 'typescript',
})
highlighter.registerAliases(['sh', 'shell', 'zsh', 'console'], { languageName: 'bash' })
highlighter.registerAliases(['html', 'svg'], { languageName: 'xml' })
highlighter.registerAliases(['py'], { languageName: 'python' })
highlighter.registerAliases(['rs'], { languageName: 'rust' })
highlighter.registerAliases(['yml'], { languageName: 'yaml' })

/** A run of code with its class. */
interface Run {
  readonly text: string
  readonly name: string | undefined
}

/** Coloured code as elements; `undefined` for a language that is not known. */
export function highlighted(text: string, language: string): ReactNode | undefined {
  if (highlighter.getLanguage(language) === undefined) return undefined
  const { value } = highlighter.highlight(text, { language, ignoreIllegals: true })
  return runsOf(value).map(({ text: part, name }, at) =>
    name === undefined ? (
      part
    ) : (
      <span key={at} className={name}>
        {part}
      </span>
    ),
  )
}

/**
 * The highlighter returns HTML, which this page never uses as such: its spans are read here, and everything else is text. The
 * innermost class counts.
 */
function runsOf(html: string): Run[] {
  const open: string[] = []
  return html.split(/(<span class="[\w\s-]*">|<\/span>)/).flatMap((piece) => {
    const [, name] = /^<span class="([\w\s-]*)">$/.exec(piece) ?? []
    if (name !== undefined) {
      open.push(name)
      return []
    }
    if (piece === '</span>') {
      open.pop()
      return []
    }
    return piece === '' ? [] : [{ text: plain(piece), name: open.at(-1) }]
  })
}

function plain(escaped: string): string {
  return escaped.replaceAll(/&(?:lt|gt|quot|#x27|amp);/g, (one) => CHARACTERS[one] ?? one)
}

const CHARACTERS: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
  '&amp;': '&',
}
