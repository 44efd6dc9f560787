import { fileSize } from '../../../src/encoding/amounts.ts'
import type { Descriptor } from '../../../src/model/descriptor.ts'
import { send } from '../api/server.ts'
import { Picture } from './picture.tsx'
import { visible } from './text.ts'
import type { TurnView } from '../session/turn-view.ts'

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

/** What the model got of an attachment on this Turn. */
export function stateOf({ projected, losses, status }: TurnView, descriptor: Descriptor): string {
  if (descriptor.kind === 'link') return 'Described only: a link is never fetched'
  const loss = losses.get(descriptor.resource_id)
  if (loss !== undefined) return visible(loss)
  if (projected.has(descriptor.resource_id)) return 'Shown to the model on this Turn'
  if (status === 'open') return 'Attached'
  return 'Described only on this Turn'
}
