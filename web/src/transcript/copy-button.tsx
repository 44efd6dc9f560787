import { useState } from 'react'

const SHOWN_MS = 1_500

/** Copies the text itself, without what the page adds to it. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  const copy = async () => {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    setState(isCopied ? 'copied' : 'failed')
    setTimeout(() => setState('idle'), SHOWN_MS)
  }
  return (
    <button type="button" className="quiet" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      {state === 'idle' ? 'Copy' : state === 'copied' ? 'Copied' : 'Not allowed'}
    </button>
  )
}
