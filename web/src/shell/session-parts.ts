import { DraftKeeper } from '../composer/draft-keeper.ts'
import { Outbox } from '../composer/outbox.ts'
import { Queue } from '../composer/queue.tsx'
import { Uploads } from '../composer/uploads.ts'
import { SessionClient } from '../session/session-client.ts'

/** What a Session needs while it is shown. */
export interface SessionParts {
  readonly client: SessionClient
  readonly keeper: DraftKeeper
  readonly outbox: Outbox
  readonly uploads: Uploads
  readonly queue: Queue
  /** It is shown. Returns what must be called when it is not any more. */
  open(): () => void
}

/** Parts of Sessions that are not shown, and whose files are still on their way. */
const uploading = new Map<string, SessionParts>()

export function sessionParts(id: string): SessionParts {
  return uploading.get(id) ?? newParts(id)
}

function newParts(id: string): SessionParts {
  const client = new SessionClient(id)
  const keeper = new DraftKeeper(id)
  const queue = new Queue(id)
  const outbox = new Outbox(id, keeper, queue.read)
  const uploads = new Uploads(keeper)
  let shown = 0
  const close = () => {
    if (shown > 0 || uploads.isUploading) return
    stop()
    uploading.delete(id)
    client.close()
    keeper.close()
    outbox.close()
    uploads.close()
  }
  const stop = uploads.store.subscribe(close)
  const parts: SessionParts = {
    client,
    keeper,
    outbox,
    uploads,
    queue,
    open: () => {
      shown += 1
      uploading.set(id, parts)
      return () => {
        shown -= 1
        close()
      }
    },
  }
  return parts
}

// The browser asks before it closes a tab whose files have not arrived.
addEventListener('beforeunload', (event) => {
  if ([...uploading.values()].some(({ uploads }) => uploads.isUploading)) event.preventDefault()
})
