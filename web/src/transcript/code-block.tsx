import { memo, useEffect, useState, type ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'
import { cut } from './text.ts'

const LONGEST_COLOURED = 40_000

type Colour = (text: string, language: string) => ReactNode | undefined
let loaded: Colour | undefined

/** Code, coloured once the highlighter is here: it is loaded with the first code, and colours change no size. */
export const CodeBlock = memo(function CodeBlock({
  text,
  language,
}: {
  readonly text: string
  readonly language: string
}) {
  const [colour, setColour] = useState<Colour | undefined>(() => loaded)
  const [isWhole, setWhole] = useState(false)
  const { shown, rest } = isWhole ? { shown: text, rest: 0 } : cut(text, LONGEST_COLOURED)
  const isColoured = language !== '' && text.length <= LONGEST_COLOURED
  useEffect(() => {
    if (!isColoured || loaded !== undefined) return
    let isGone = false
    void import('./highlight.tsx').then(({ highlighted }) => {
      loaded = highlighted
      if (!isGone) setColour(() => highlighted)
    })
    return () => void (isGone = true)
  }, [isColoured])
  return (
    <div className="code" dir="ltr">
      <div className="code-head">
        <span>{language}</span>
        <CopyButton text={text} what="code" />
      </div>
      <pre tabIndex={0} role="region" aria-label={language === '' ? 'Code' : `Code, ${language}`}>
        <code>{(isColoured ? colour?.(shown, language) : undefined) ?? shown}</code>
      </pre>
      {rest > 0 && (
        <button type="button" className="quiet" onClick={() => setWhole(true)}>
          Show {rest.toLocaleString('en')} more characters
        </button>
      )}
    </div>
  )
})
