import { useEffect, useRef, useState } from 'react'
import type { Descriptor } from '../../../src/model/descriptor.ts'
import { send } from '../api/server.ts'
import { visible } from './text.ts'

const THUMBNAIL_PIXELS = 320

interface PictureProps {
  readonly sessionId: string
  readonly descriptor: Exclude<Descriptor, { readonly kind: 'link' }>
}

/** A picture in small, with its place reserved before it is here; a click shows the original. */
export function Picture({ sessionId, descriptor }: PictureProps) {
  const [isOpen, setOpen] = useState(false)
  const { name, width = 4, height = 3 } = descriptor
  const shown = usePicture(sessionId, descriptor.resource_id, `?size=${THUMBNAIL_PIXELS}`)
  if (shown.problem !== undefined) return <p className="no-picture">{shown.problem}</p>
  return (
    <>
      <button
        type="button"
        className="picture"
        aria-label={`Show ${visible(name)} in full size`}
        style={{ aspectRatio: `${width} / ${height}` }}
        onClick={() => setOpen(true)}
      >
        {shown.url !== undefined && <img src={shown.url} alt={visible(name)} />}
      </button>
      {isOpen && (
        <Original sessionId={sessionId} descriptor={descriptor} onClose={() => setOpen(false)} />
      )}
    </>
  )
}

function Original({
  sessionId,
  descriptor: { resource_id: id, name },
  onClose,
}: PictureProps & { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const shown = usePicture(sessionId, id, '')
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      className="original"
      aria-label={visible(name)}
      onClose={onClose}
      onClick={onClose}
    >
      {shown.problem !== undefined && <p className="no-picture">{shown.problem}</p>}
      {shown.url !== undefined && <img src={shown.url} alt={visible(name)} />}
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  )
}

/** Fetched with the token, and released when nothing shows it any more. */
function usePicture(sessionId: string, id: string, query: string) {
  const [shown, setShown] = useState<{ readonly url?: string; readonly problem?: string }>({})
  useEffect(() => {
    const stop = new AbortController()
    let url: string | undefined
    const path = `/api/harness/session/${sessionId}/resources/${id}${query}`
    void send('GET', path, { signal: stop.signal }).then(async (response) => {
      if (stop.signal.aborted) return
      if (response?.ok !== true) {
        setShown({ problem: response?.status === 410 ? 'missing' : 'cannot be shown' })
        return
      }
      const bytes = await response.blob()
      if (stop.signal.aborted) return
      url = URL.createObjectURL(bytes)
      setShown({ url })
    })
    return () => {
      stop.abort()
      if (url !== undefined) URL.revokeObjectURL(url)
    }
  }, [sessionId, id, query])
  return shown
}
