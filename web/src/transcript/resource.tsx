import { useEffect, useState } from 'react'
import { fileSize } from '../../../src/encoding/amounts.ts'
import type { Descriptor } from '../../../src/model/descriptor.ts'
import { send } from '../api/server.ts'
import { visible } from './text.ts'
import type { TurnView } from '../session/turn-view.ts'

const THUMBNAIL_PIXELS = 320

/** A Resource with its picture, and in words what the model got of it. */
export function Resource({
  sessionId,
  descriptor,
  state,
}: {
  readonly sessionId: string
  readonly descriptor: Descriptor
  readonly state: string
}) {
  const { handle, kind } = descriptor
  const size = kind === 'link' ? undefined : descriptor.size_bytes
  return (
    <figure className="resource">
      {kind === 'image' && <Picture sessionId={sessionId} descriptor={descriptor} />}
      <figcaption>
        <bdi className="name">{visible(descriptor.name)}</bdi>
        <span className="quiet">
          {handle}
          {size === undefined ? '' : ` · ${fileSize(size)}`}
          {kind === 'image' && descriptor.width !== undefined
            ? ` · ${descriptor.width} × ${descriptor.height ?? 0}`
            : ''}
        </span>
        {state !== '' && <span className="state">{state}</span>}
        {kind !== 'image' && kind !== 'link' && (
          <SaveButton sessionId={sessionId} descriptor={descriptor} />
        )}
      </figcaption>
    </figure>
  )
}

function Picture({
  sessionId,
  descriptor,
}: {
  readonly sessionId: string
  readonly descriptor: Descriptor
}) {
  const [shown, setShown] = useState<{ readonly url?: string; readonly problem?: string }>({})
  const { resource_id: id, name } = descriptor
  useEffect(() => {
    const stop = new AbortController()
    let url: string | undefined
    const path = `/api/harness/session/${sessionId}/resources/${id}?size=${THUMBNAIL_PIXELS}`
    void send('GET', path, { signal: stop.signal }).then(async (response) => {
      if (stop.signal.aborted) return
      if (response?.ok !== true) {
        setShown({ problem: response?.status === 410 ? 'missing' : 'cannot be shown' })
        return
      }
      url = URL.createObjectURL(await response.blob())
      if (stop.signal.aborted) URL.revokeObjectURL(url)
      else setShown({ url })
    })
    return () => {
      stop.abort()
      if (url !== undefined) URL.revokeObjectURL(url)
    }
  }, [sessionId, id])
  if (shown.problem !== undefined) return <p className="no-picture">{shown.problem}</p>
  const { width = 4, height = 3 } = descriptor.kind === 'image' ? descriptor : {}
  return (
    <span className="picture" style={{ aspectRatio: `${width} / ${height}` }}>
      {shown.url !== undefined && <img src={shown.url} alt={visible(name)} />}
    </span>
  )
}

function SaveButton({
  sessionId,
  descriptor,
}: {
  readonly sessionId: string
  readonly descriptor: Descriptor
}) {
  const save = async () => {
    const path = `/api/harness/session/${sessionId}/resources/${descriptor.resource_id}`
    const response = await send('GET', path)
    if (response?.ok !== true) return
    const url = URL.createObjectURL(await response.blob())
    const link = document.createElement('a')
    link.href = url
    link.download = descriptor.name
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <button type="button" className="quiet" onClick={() => void save()}>
      Save
    </button>
  )
}

/** What the model got of an attachment on this Turn; notices say why, where it got less. */
export function stateOf({ projected, items, status }: TurnView, descriptor: Descriptor): string {
  if (descriptor.kind === 'link') return 'Described only: a link is never fetched'
  const loss = items.find(
    (item) =>
      item.kind === 'notice' &&
      item.code !== 'resource_retired' &&
      item.text.startsWith(`${descriptor.handle} `) &&
      item.text.includes('not sent'),
  )
  if (loss?.kind === 'notice') return `Withheld: ${loss.text.slice(descriptor.handle.length + 1)}`
  if (projected.has(descriptor.resource_id)) return 'Shown to the model on this Turn'
  if (status === 'open') return 'Attached'
  return 'Described only on this Turn'
}
