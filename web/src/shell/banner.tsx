import { useEffect, useState } from 'react'
import type { Connection } from '../api/event-stream.ts'
import { send } from '../api/server.ts'

/** What keeps the page from the truth; nothing while they are connected. */
export function Banner({ connection }: { readonly connection: Connection }) {
  const hasNew = useNewVersion(connection === 'open')
  if (typeof connection === 'object')
    return (
      <div className="banner" role="alert">
        {connection.closed}
      </div>
    )
  if (connection === 'stopped')
    return (
      <div className="banner" role="alert">
        Server stopped. Your draft is safe; start it with <code>hawser up</code>.
      </div>
    )
  if (connection === 'connecting')
    return (
      <div className="banner soft" role="status">
        Connecting…
      </div>
    )
  if (!hasNew) return null
  return (
    <div className="banner soft" role="status">
      The server has another version of this page.{' '}
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  )
}

/** A server that was replaced serves another script. */
function useNewVersion(isOpen: boolean): boolean {
  const [hasNew, setNew] = useState(false)
  useEffect(() => {
    if (!isOpen) return
    const own = document.querySelector('script[type=module][src]')?.getAttribute('src') ?? ''
    let isGone = false
    void send('GET', '/').then(async (response) => {
      const page = response?.ok === true ? await response.text() : own
      if (!isGone) setNew(own !== '' && !page.includes(own))
    })
    return () => void (isGone = true)
  }, [isOpen])
  return hasNew
}
